# CAM's greedy search and pruning on the tables search*, around mgcv: Rscript make_cam.R, in this folder.
# cam_steps.csv has the edges in the order of their insertion with the score after each, and whether pruning kept them.

source("additive.R")

residual_variance <- function(rows, target, parents) {
    if (length(parents) == 0) return(var(rows[[target]]))
    var(residuals(additive(rows[[target]], rows[parents])))
}

search <- function(rows) {
    d <- ncol(rows)
    parents <- rep(list(integer()), d)
    variance <- sapply(rows, var)
    is_ancestor <- diag(d) == 1 # of itself
    gain <- matrix(-Inf, d, d)
    refit <- function(j) {
        for (i in seq_len(d)) {
            gain[i, j] <<- -Inf
            if (!is_ancestor[j, i] && !(i %in% parents[[j]]) && length(parents[[j]]) < min(d - 1, round(nrow(rows) / 20)))
                gain[i, j] <<- log(variance[j]) - log(residual_variance(rows, j, c(parents[[j]], i)))
        }
    }
    for (j in seq_len(d)) refit(j)
    steps <- NULL
    while (any(gain > -Inf)) {
        best <- which(gain == max(gain), arr.ind = TRUE)[1, ]
        i <- best[[1]]
        j <- best[[2]]
        parents[[j]] <- c(parents[[j]], i)
        variance[j] <- residual_variance(rows, j, parents[[j]])
        is_ancestor <- is_ancestor | (is_ancestor[, i] %o% is_ancestor[j, ] > 0)
        gain[t(is_ancestor)] <- -Inf # what would close a cycle
        refit(j)
        steps <- rbind(steps, data.frame(source = i - 1, target = j - 1, score = -sum(log(variance))))
    }
    steps$p_value <- NA
    for (j in which(lengths(parents) > 0)) {
        p_values <- summary(additive(rows[[j]], rows[parents[[j]]]))$s.pv
        steps$p_value[match(paste(parents[[j]] - 1, j - 1), paste(steps$source, steps$target))] <- p_values
    }
    steps$is_kept <- steps$p_value < 0.001
    steps
}

steps <- NULL
for (name in c("search5", "search6", "search6_sparse"))
    steps <- rbind(steps, cbind(table = name, search(read.csv(file.path("tables", paste0(name, ".csv.gz"))))))
steps[c("score", "p_value")] <- lapply(steps[c("score", "p_value")], signif, digits = 10)
steps$is_kept <- as.integer(steps$is_kept)
write.csv(steps, "cam_steps.csv", row.names = FALSE, quote = FALSE)
cat(R.version.string, ", mgcv ", as.character(packageVersion("mgcv")), "\n", sep = "")
