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

# summary's p-values have an absolute error of 2e-5 and can be exactly 0. This is its own test (Wood 2013) with the
# distribution function to 1e-11, or to the smallest error that it can be computed with: it returns 2 where it fails.
precise_tail <- function(...) {
    for (tol in c(1e-11, 1e-9, 1e-7, 2e-5)) {
        p <- mgcv::psum.chisq(..., tol = tol, nlim = 1e6)
        if (p <= 1) return(p)
    }
    p
}
precise_test <- mgcv:::testStat
environment(precise_test) <- list2env(list(psum.chisq = precise_tail), parent = asNamespace("mgcv"))
