# The additive regression of CAM's search and pruning, by mgcv. Columns of `x` are the inputs.

library(mgcv)

# 10 functions per term; fewer where there are less than 30 rows per term, at least 3.
basis_size <- function(n, q) if (n / q < 30) max(3, ceiling(n / (3 * q))) else 10

additive <- function(y, x) {
    k <- basis_size(length(y), ncol(x))
    names(x) <- paste0("v", seq_along(x))
    # mgcv refuses a basis with more functions than the column has values; with two values a curve is a line.
    n_distinct <- sapply(x, function(column) length(unique(column)))
    terms <- ifelse(n_distinct == 2, names(x), sprintf("s(%s, k = %d)", names(x), pmin(k, n_distinct)))
    gam(as.formula(paste("y ~", paste(terms, collapse = " + "))), data = cbind(y = y, x))
}
