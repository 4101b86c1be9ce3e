# R's numbers for the regressions in tasks.csv: Rscript make_gam.R, in this folder.
# regressions.csv has a row per regression, terms.csv a row per parent, fitted.csv the first 20 fitted values of each.

source("additive.R")

precise_p_value <- function(b, columns) {
    rank <- min(length(columns), sum(b$edf1[columns]))
    rdf <- length(b$y) - sum(b$edf)
    X <- b$R[, columns, drop = FALSE]
    precise_test(coef(b)[columns], X, b$Vp[columns, columns, drop = FALSE], rank = rank, res.df = rdf)$pval
}

tasks <- read.csv("tasks.csv", colClasses = c(parents = "character"))
tables <- list()
regressions <- terms <- fitted_values <- NULL
for (i in seq_len(nrow(tasks))) {
    task <- tasks[i, ]
    if (is.null(tables[[task$table]])) tables[[task$table]] <- read.csv(file.path("tables", paste0(task$table, ".csv.gz")))
    rows <- tables[[task$table]][seq_len(task$n_rows), ]
    parents <- as.integer(strsplit(task$parents, " ")[[1]])
    y <- rows[[task$target + 1]]
    b <- additive(y, rows[parents + 1])
    s <- summary(b)
    regressions <- rbind(regressions, data.frame(
        task = task$task, k = basis_size(length(y), length(parents)), gcv = b$gcv.ubre, sigma2 = b$sig2,
        residual_df = b$df.residual, residual_variance = var(residuals(b)), mean_of_target = mean(y)
    ))
    fitted_values <- rbind(fitted_values, data.frame(task = task$task, t(fitted(b)[1:20])))
    for (j in seq_along(parents)) {
        smooth <- Filter(function(smooth) smooth$term == paste0("v", j), b$smooth)
        if (length(smooth)) {
            columns <- smooth[[1]]$first.para:smooth[[1]]$last.para
            values <- list(edf = sum(b$edf[columns]), edf1 = sum(b$edf1[columns]),
                           p_value = s$s.pv[sapply(b$smooth, function(one) one$term) == paste0("v", j)])
            values$precise_p_value <- precise_p_value(b, columns)
            stopifnot(abs(values$precise_p_value - values$p_value) < 5e-5)
        } else {
            p_value <- s$p.pv[[paste0("v", j)]]
            values <- list(edf = 1, edf1 = 1, p_value = p_value, precise_p_value = p_value)
        }
        terms <- rbind(terms, data.frame(task = task$task, parent = parents[j], values))
    }
}
write.csv(format(regressions, digits = 10, trim = TRUE), "regressions.csv", row.names = FALSE, quote = FALSE)
terms[-(1:2)] <- lapply(terms[-(1:2)], signif, digits = 10)
write.csv(terms, "terms.csv", row.names = FALSE, quote = FALSE)
fitted_values[-1] <- round(fitted_values[-1], 6)
names(fitted_values) <- c("task", paste0("row", 0:19))
write.csv(fitted_values, "fitted.csv", row.names = FALSE, quote = FALSE)
cat(R.version.string, ", mgcv ", as.character(packageVersion("mgcv")), "\n", sep = "")
