"""One file per conditional density p(x | outputs, constants): its logarithm, its derivatives, and where they start.

`log_density` writes log p over the rows of a batch, `log_density_slope` its derivatives with respect to the network's
outputs (`outputs`, one row per output) and to the parameters that do not depend on the inputs (`constants`, summed over
the rows). Rows from `n_rows` on are padding: 0 in `log_p` and `slope` on entry, and to stay so. `start` gives outputs
and constants with which training begins, from values of the variable and, where it has labels, their number.

The Gaussian ones compute in the precision of the rows, the others in double precision: their exponentials and
logarithms cost more than that, and must not overflow where a network is far off.
"""
