# R's numbers for the regressions in family_tasks.csv: Rscript make_families.R, in this folder.
# family_regressions.csv has a row per regression, family_terms.csv a row per parent, and per predictor where there are
# several (labels of a categorical target), with a row "joint" for all predictors together.

source("additive.R")

# What a heavy-tailed input is in ours: outliers are brought in.
tamed <- function(x) {
    q <- quantile(x, c(0.25, 0.5, 0.75), names = FALSE)
    asinh((x - q[2]) / ((q[3] - q[1]) / 1.349))
}

terms_of <- function(rows, parents) {
    k <- basis_size(nrow(rows), length(parents))
    sapply(parents, function(name) {
        if (name %in% c("binary", "label")) name else sprintf("s(%s, k = %d)", name, min(k, length(unique(rows[[name]]))))
    })
}

fit_family <- function(family, target, terms, rows, method = "REML") {
    right <- paste("~", paste(terms, collapse = " + "))
    if (family == "multinomial") {
        K <- max(rows[[target]])
        formulas <- c(list(as.formula(paste(target, right))), rep(list(as.formula(right)), K - 1))
        return(gam(formulas, family = multinom(K = K), data = rows, method = method))
    }
    families <- list("gaussian" = gaussian(), "scaled t" = scat(), "binomial" = binomial(), "negative binomial" = nb())
    gam(as.formula(paste(target, right)), family = families[[family]], data = rows, method = method)
}

# The columns of each parent in each predictor (0, 1, ...), smooth or parametric.
columns_of <- function(b, name, predictor) {
    suffix <- if (predictor == 0) "" else paste0(".", predictor)
    for (smooth in b$smooth) {
        if (smooth$term == name && startsWith(smooth$label, paste0("s", suffix, "("))) {
            return(smooth$first.para:smooth$last.para)
        }
    }
    labels <- if (name == "label") paste0("label", 1:3) else name
    match(paste0(labels, suffix), names(coef(b)))
}

test_of <- function(b, name, columns) {
    residual_df <- if (b$scale.estimated) length(b$y) - sum(b$edf) else -1
    V <- b$Vp[columns, columns, drop = FALSE]
    if (name %in% c("binary", "label")) {
        p <- coef(b)[columns]
        statistic <- drop(p %*% solve(V, p))
        if (residual_df <= 0) return(pchisq(statistic, length(p), lower.tail = FALSE))
        return(pf(statistic / length(p), length(p), residual_df, lower.tail = FALSE))
    }
    rank <- min(length(columns), sum(b$edf1[columns]))
    precise_test(coef(b)[columns], b$R[, columns, drop = FALSE], V, rank = rank, res.df = residual_df)$pval
}

tasks <- read.csv("family_tasks.csv")
tables <- list()
regressions <- all_terms <- NULL
for (i in seq_len(nrow(tasks))) {
    task <- tasks[i, ]
    if (is.null(tables[[task$table]])) {
        tables[[task$table]] <- read.csv(file.path("tables", paste0(task$table, ".csv.gz")))
        tables[[task$table]]$label <- factor(tables[[task$table]]$label)
    }
    rows <- tables[[task$table]][seq_len(task$n_rows), ]
    rows$heavy <- tamed(rows$heavy)
    parents <- strsplit(task$parents, " ")[[1]]
    terms <- terms_of(rows, parents)
    seconds <- system.time(b <- fit_family(task$family, task$target, terms, rows))[["user.self"]]
    s <- summary(b)
    by_default <- if (task$family == "binomial") fit_family(task$family, task$target, terms, rows, "GCV.Cp") else b
    n_predictors <- if (task$family == "multinomial") max(rows[[task$target]]) else 1
    theta <- if (task$family %in% c("scaled t", "negative binomial")) b$family$getTheta() else NA
    regressions <- rbind(regressions, data.frame(
        task = task$task, criterion = -b$gcv.ubre, deviance = deviance(b), edf = sum(b$edf),
        log_likelihood = as.numeric(logLik(b)), theta = paste(signif(theta, 6), collapse = " "), seconds = seconds
    ))
    for (name in parents) {
        every <- lapply(seq_len(n_predictors) - 1, function(k) columns_of(b, name, k))
        for (k in seq_len(n_predictors)) {
            p_value <- test_of(b, name, every[[k]])
            label <- if (k == 1) name else paste0(name, ".", k - 1)
            smooth <- if (k == 1) sprintf("s(%s)", name) else sprintf("s.%d(%s)", k - 1, name)
            summarised <- if (label %in% names(s$pTerms.pv)) s$pTerms.pv[[label]] else s$s.table[smooth, "p-value"]
            if (!isTRUE(abs(p_value - summarised) < 1e-4)) cat("differs:", task$task, task$family, label, p_value, summarised, "\n")
            all_terms <- rbind(all_terms, data.frame(
                task = task$task, parent = name, predictor = k - 1, edf = sum(b$edf[every[[k]]]), p_value = p_value,
                default_p_value = test_of(by_default, name, every[[k]])
            ))
        }
        if (n_predictors > 1) {
            columns <- unlist(every)
            p_value <- test_of(b, name, columns)
            all_terms <- rbind(all_terms, data.frame(
                task = task$task, parent = name, predictor = "joint", edf = sum(b$edf[columns]), p_value = p_value,
                default_p_value = p_value
            ))
        }
    }
}
numbers <- c("criterion", "deviance", "edf", "log_likelihood")
regressions[numbers] <- lapply(regressions[numbers], signif, digits = 9)
write.csv(regressions, "family_regressions.csv", row.names = FALSE, quote = FALSE)
all_terms[-(1:3)] <- lapply(all_terms[-(1:3)], signif, digits = 7)
write.csv(all_terms, "family_terms.csv", row.names = FALSE, quote = FALSE)
cat(R.version.string, ", mgcv ", as.character(packageVersion("mgcv")), "\n", sep = "")
