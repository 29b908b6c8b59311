# Recomputes every figure of estimates.csv from rows.csv and codebook.csv alone.
#
#     Rscript --vanilla reproduce.R
#
# It needs R and no package, and writes reproduced.csv beside the other files. Then it compares each figure with estimates.csv, and exits
# with status 1 if any figure differs in the first 6 digits. To see how figures are computed, read from `shares` and `mean_of` on.
#
# A record reports the respondent's option with chance theta, and each other option with chance phi. If a share f of the records reports
# an option, the unbiased estimate of its share is (f - phi) / (theta - phi). A record of a number with a window reports one output; the
# mean of the outputs' scores is an unbiased estimate of the numbers' mean (see `window_of`).

CONFIDENCE <- 0.95  # at least 0.75
ALPHA <- 1 - CONFIDENCE
Z <- -qnorm(ALPHA / 2)
BY_HAND <- 2  # the mode of people who tossed real coins: their records have separate figures
TIE <- 1e-10
COLUMNS <- c("group", "by_hand", "figure", "question", "option", "n", "ones", "estimate", "std_error", "low", "high", "adjusted")

bisect <- function(condition, inside, outside) {
  for (i in 1:100) {
    middle <- (inside + outside) / 2
    if (condition(middle)) inside <- middle else outside <- middle
  }
  inside
}

xlogy <- function(x, y) ifelse(x == 0, 0, x * log(ifelse(y > 0, y, 1e-300)))

# Limits of a rate within [lowest, highest]: Feldman and Cousins, Phys. Rev. D 57 (1998), for a binomial count; for many records, the
# likelihood ratio, which has the same shape.

# The largest rate whose log-likelihood is within `drop` of its value at `best`.
drop_upper <- function(y, n, best, highest, drop) {
  fall <- function(rate) {
    own <- if (y > 0) y * log1p((rate - best) / best) else 0
    if (rate >= 1) return(if (y < n) Inf else -own)
    -own - (n - y) * log1p(-(rate - best) / (1 - best))
  }
  if (fall(highest) <= drop) highest else bisect(function(rate) fall(rate) <= drop, best, highest)
}

# P(Y <= y) + P(Y >= other) for Y binomial (n, rate).
tails <- function(y, other, n, rate) pbinom(y, n, rate) + pbinom(other - 1, n, rate, lower.tail = FALSE)

# The largest rate whose p-value is above ALPHA. Searches intervals of the rate; in each, the same counts are at least as surprising as y.
exact_upper <- function(y, n, lowest, highest) {
  best <- min(max(y / n, lowest), highest)
  if (best == highest) return(highest)
  farthest <- drop_upper(y, n, best, highest, log(2 / ALPHA) + TIE)
  counts <- y:n
  at <- pmin(pmax(counts / n, lowest), highest)
  c0 <- xlogy(counts, at) + xlogy(n - counts, 1 - at)
  slopes <- cummax((c0[-1] - c0[1] + TIE) / (counts[-1] - y))
  others <- c(counts[-1], n + 1)
  ends <- c(pmin(1 / (1 + exp(-slopes)), highest), highest)
  starts <- c(best, ends[-length(ends)])
  for (i in (1 + sum(ends[-length(ends)] <= farthest)):1) {
    if (tails(y, others[i], n, ends[i]) > ALPHA) return(ends[i])
    if (tails(y, others[i], n, starts[i]) > ALPHA) {
      return(bisect(function(rate) tails(y, others[i], n, rate) > ALPHA, starts[i], ends[i]))
    }
  }
  best
}

likelihood_upper <- function(y, n, lowest, highest) drop_upper(y, n, min(max(y / n, lowest), highest), highest, Z^2 / 2)

rate_limits <- function(y, n, lowest, highest) {
  rare <- n <= 200000 && n * min(lowest, 1 - highest) < 25
  upper <- if (n <= 10000 || rare) exact_upper else likelihood_upper
  mirrored <- upper(n - y, n, 1 - highest, 1 - lowest)
  c(if (mirrored == 1 - lowest) lowest else 1 - mirrored, upper(y, n, lowest, highest))
}

# Shares >= 0 that add to 1: the nearest ones for two or three options, or if all are 4 standard errors above 0; otherwise an empirical
# Bayes estimate with a Dirichlet prior.

# Nodes and weights of Gauss-Legendre quadrature on [-1/2, 1/2], from the eigenvalues of a tridiagonal matrix (Golub and Welsch 1969).
gauss <- local({
  i <- 1:47
  beside <- i / sqrt(4 * i^2 - 1)
  jacobi <- matrix(0, 48, 48)
  jacobi[cbind(i, i + 1)] <- beside
  jacobi[cbind(i + 1, i)] <- beside
  result <- eigen(jacobi, symmetric = TRUE)
  list(nodes = result$values / 2, weights = result$vectors[1, ]^2)
})

nearest_shares <- function(point) {
  falling <- sort(point, decreasing = TRUE)
  lowered <- (cumsum(falling) - 1) / seq_along(point)
  nearest <- pmax(point - tail(lowered[falling > lowered], 1), 0)
  nearest / sum(nearest)
}

adjusted <- function(ones, n, phi, theta) {
  estimate <- (ones / n - phi) / (theta - phi)
  nearest <- nearest_shares(estimate)
  if (length(estimate) < 4) return(nearest)
  rate <- phi + (theta - phi) * nearest
  spread <- rate * (1 - rate)
  for (i in 1:100) spread <- rate * (1 - rate) + spread^2 / sum(spread)
  variance <- spread / (n * (theta - phi)^2)
  if (all(estimate > 4 * sqrt(variance))) return(nearest)
  priors <- 0.5^(0:6)
  fits <- lapply(priors[length(estimate) * priors >= 1], function(a) posterior(estimate, variance, a))
  evidence <- sapply(fits, function(fit) fit$evidence)
  weights <- exp(evidence - max(evidence))
  Reduce(`+`, Map(function(fit, weight) fit$means * weight, fits, weights)) / sum(weights)
}

# log P(estimates | a) up to a constant, and the mean of the shares under Dirichlet(a), with the tilt that makes them add to 1.
posterior <- function(estimate, variance, a) {
  k <- length(estimate)
  tilt <- 0
  low <- -Inf
  high <- Inf
  for (i in 1:200) {
    fit <- tilted(estimate, variance, a, tilt)
    excess <- sum(fit$means) - 1
    if (abs(excess) < 1e-9) break
    if (excess > 0) low <- tilt else high <- tilt
    newton <- tilt + excess / sum(fit$spread)
    tilt <- if (newton > low && newton < high) newton else (low + high) / 2
  }
  evidence <- sum(fit$mass) + tilt - log(sum(fit$spread)) / 2 - k * lgamma(a) + lgamma(k * a)
  list(evidence = evidence, means = fit$means / sum(fit$means))
}

# Log mass, mean and variance of each density p^(a-1) exp(-(p - u)^2 / 2v - tilt p) over p > 0, by Gauss-Legendre in p^a.
tilted <- function(estimate, variance, a, tilt) {
  moments <- mapply(function(u, v) {
    middle <- u - tilt * v
    start <- max(0, middle - 8 * sqrt(v))
    stop <- middle + sqrt(min(middle, 0)^2 + 64 * v)
    y <- c(start, start + (stop - start) / 16, stop)^a
    step <- diff(y)
    p <- c(y[1] + step[1] * (gauss$nodes + 0.5), y[2] + step[2] * (gauss$nodes + 0.5))^(1 / a)
    w <- c(step[1] * gauss$weights / a, step[2] * gauss$weights / a)
    logs <- -(p - max(middle, 0))^2 / (2 * v) + min(middle, 0) / v * p + log(w)
    mass <- max(logs) + log(sum(exp(logs - max(logs))))
    w <- exp(logs - mass)
    mean <- sum(w * p)
    largest <- if (middle > 0) -tilt * (u + middle) / 2 else -u^2 / (2 * v)
    c(mass + largest, mean, sum(w * (p - mean)^2))
  }, estimate, variance)
  list(mass = moments[1, ], means = moments[2, ], spread = moments[3, ])
}

# A row for each option of a question: n, ones, estimate, standard error, limits and adjusted share.
shares <- function(ones, n, phi, theta) {
  if (n == 0) return(cbind(0, 0, matrix(NA, length(ones), 5)))
  rate <- ones / n
  gap <- theta - phi
  limits <- t(sapply(ones, function(y) pmin(1, pmax(0, (rate_limits(y, n, phi, theta) - phi) / gap))))
  inside <- pmin(theta, pmax(phi, rate))  # a standard error is never below that of the coins alone
  error <- sqrt(pmax(rate * (1 - rate), inside * (1 - inside)) / n) / gap
  cbind(n, ones, (rate - phi) / gap, error, limits, adjusted(ones, n, phi, theta))
}

# The mean score of the people who answered: a weighted sum of the estimated shares, whose covariance follows from the coins.

# The covariance of the k estimated shares times n: of the coins alone (sampling 0), or of sampling and coins (1).
covariance <- function(p, sampling, channel) {
  k <- channel$k
  d <- channel$d
  theta <- channel$theta
  phi <- channel$phi
  if (sampling == 0) p <- nearest_shares(p)
  either <- theta * (d - 1) / (k - 1)
  neither <- if (k > 2) (theta * (d - 1) * (d - 2) + (1 - theta) * d * (d - 1)) / ((k - 1) * (k - 2)) else 0
  scale <- (theta - phi)^2
  own <- (theta - 2 * phi * theta + phi^2) / scale
  other <- (phi - 2 * phi * phi + phi^2) / scale
  either <- (either - phi * (theta + phi) + phi^2) / scale
  neither <- (neither - 2 * phi * phi + phi^2) / scale
  touched <- outer(p, p, `+`)
  moments <- either * touched + neither * (sum(p) - touched)
  diag(moments) <- own * p + other * (sum(p) - p)
  moments - (if (sampling == 1) outer(p, p) else diag(p))
}

normal_p <- function(x, top, value) {
  above <- top - value
  drop <- if (x < 0) value * (value - 2 * x) else if (x > top) above * (2 * x - value - top) else (x - value)^2
  root <- sqrt(drop)
  down <- if (root <= value) root else if (value > 0) value - (value - drop / value) / 2 else Inf
  up <- if (root <= above) root else if (above > 0) above - (above - drop / above) / 2 else Inf
  pnorm(-down) + pnorm(-up)
}

# The distance of a mean's limits in standard errors, for n records: Student's t times sqrt(n / (n - 1)).
reach <- function(n) -qt(ALPHA / 2, max(n - 1, 1)) / sqrt(max(1 - 1 / n, 0.5))

# Limits of a mean of n records in [lowest, highest]: Feldman and Cousins for a normal error, widened by `reach`.
normal_limits <- function(value, error, n, lowest, highest) {
  error <- error * reach(n) / Z
  start <- max(lowest, min(value, highest) - 40 * error)
  stop <- min(highest, max(value, lowest) + 40 * error)
  x <- (value - start) / error
  top <- (stop - start) / error
  best <- min(max(x, 0), top)
  half <- sqrt((best - x)^2 + Z^2)
  outer <- c(max(x - half, 0), min(x + half, top))
  if (x < 2 * Z || x > top - 2 * Z) {
    for (i in 1:2) if (normal_p(x, top, outer[i]) <= ALPHA) {
      outer[i] <- bisect(function(v) normal_p(x, top, v) > ALPHA, best, outer[i])
    }
  }
  c(max(start + error * outer[1], lowest), if (outer[2] >= top) stop else min(start + error * outer[2], highest))
}

# Fieller's limits (J. R. Stat. Soc. B 16, 1954) within the ends of the scale.
ratio_limits <- function(over, under, c0, ends, n) {
  best <- min(max(over / under, ends[1]), ends[2])
  spread <- function(x) c0[1, 1] - 2 * x * c0[1, 2] + x * x * c0[2, 2]
  drop <- reach(n)^2 + (if (best == over / under) 0 else (over - best * under)^2 / spread(best))
  a <- under^2 - drop * c0[2, 2]
  b <- -2 * (over * under - drop * c0[1, 2])
  e <- over^2 - drop * c0[1, 1]
  if (a <= 0 && b * b < 4 * a * e) return(ends)
  half <- sqrt(max(0, b * b - 4 * a * e))
  far <- -(b + (if (b < 0) -half else half)) / 2
  roots <- c(if (a != 0) far / a, if (far != 0) e / far)
  c(if (best > ends[1]) max(ends[1], roots[roots < best]) else ends[1], if (best < ends[2]) min(ends[2], roots[roots > best]) else ends[2])
}

# n, no count, mean, standard error and limits; only n if the records do not suffice.
mean_of <- function(scores, ones, n, records, channel) {
  none <- c(records, rep(NA, 6))
  if (n == 0) return(none)
  p <- (ones / n - channel$phi) / (channel$theta - channel$phi)
  answered <- !is.na(scores)
  values <- ifelse(answered, scores, 0)
  ends <- range(scores[answered])
  if (all(answered)) {
    variance <- max(sapply(0:1, function(part) sum(values * (covariance(p, part, channel) %*% values)))) / n
    value <- sum(values * p)
    return(c(n, NA, value, sqrt(variance), normal_limits(value, sqrt(variance), n, ends[1], ends[2]), NA))
  }
  middle <- mean(ends)
  weights <- rbind(ifelse(answered, scores - middle, 0), as.numeric(answered))
  parts <- as.vector(weights %*% p)
  coins <- weights %*% covariance(p, 0, channel) %*% t(weights) / n
  plain <- weights %*% covariance(p, 1, channel) %*% t(weights) / n
  scale <- sqrt(abs(diag(coins)) + abs(diag(plain)))  # else the result would depend on the units of the scores
  units <- outer(scale, scale)
  beyond <- eigen((plain - coins + t(plain - coins)) / 2 / units, symmetric = TRUE)
  c0 <- coins + beyond$vectors %*% diag(pmax(beyond$values, 0)) %*% t(beyond$vectors) * units
  ratio(parts, c0, ends - middle, n, none) + c(0, 0, middle, 0, middle, middle, 0)
}

# The same for a ratio of two means with the covariance c0; `none` if the records do not suffice.
ratio <- function(parts, c0, ends, n, none) {
  if (parts[2] <= 0) return(none)
  limits <- ratio_limits(parts[1], parts[2], c0, ends, n)
  if (all(limits == ends)) return(none)
  value <- parts[1] / parts[2]
  c(n, NA, value, sqrt(c0[1, 1] - 2 * value * c0[1, 2] + value^2 * c0[2, 2]) / parts[2], limits, NA)
}

# A number with a window: the share of "no answer", if a respondent can give none, and the mean of the people who answered. The outputs'
# scores have the same mean as the numbers. "No answer" has a separate output, which by chance alone is `width` times as likely as another.
window_of <- function(scores, ones, n, records, sizes, theta) {
  width <- sizes[1]
  ends <- sizes[2:3]
  answered <- !is.na(scores)
  apart <- sum(!answered)
  size <- length(scores)
  phi <- width * (1 - theta) / (if (apart) size - 1 else size - width)
  share <- if (apart) shares(ones[size], n, phi, theta)
  if (apart && n > 0) share[1, 7] <- min(1, max(0, share[1, 3]))
  none <- c(records, rep(NA, 6))
  if (n == 0) return(list(share = share, mean = none))
  rates <- (ones + 1 / size) / (n + 1)  # as if there were one more record, with each output equally likely
  if (!apart) {
    value <- sum(ones * scores) / n
    error <- sqrt(sum(rates * (scores - sum(rates * scores))^2) / n)
    return(list(share = share, mean = c(n, NA, value, error, normal_limits(value, error, n, ends[1], ends[2]), NA)))
  }
  counts <- ifelse(answered, theta, theta - 1) / (theta - phi)  # how many answering people a record counts for
  added <- rbind(mean(ends) * counts + ifelse(answered, scores - mean(ends), 0), counts)
  spread <- added - as.vector(added %*% rates)
  c0 <- (spread * rep(rates, each = 2)) %*% t(spread) / n
  list(share = share, mean = ratio(as.vector(added %*% ones) / n, c0, ends, n, none))
}

# The lines of some rows: the shares of every question, then the means.
figures <- function(rows, items) {
  lines <- lapply(unique(items$question), function(question) {
    part <- items[items$question == question, ]
    channel <- list(k = part$k[1], d = part$d[1], theta = part$threshold[1] / 2^32)
    channel$phi <- (channel$d - channel$theta) / (channel$k - 1)
    n <- sum(!is.na(rows[[part$variable[1]]]))
    ones <- mapply(function(name, code) sum(rows[[name]] == code, na.rm = TRUE), part$variable, part$code, USE.NAMES = FALSE)
    if (!is.na(part$window[1])) {
      window <- window_of(part$score, ones, n, nrow(rows), c(part$window[1], part$low[1], part$high[1]), channel$theta)
      share <- if (!is.null(window$share)) setNames(data.frame("share", question, "no answer", window$share), COLUMNS[-(1:2)])
      return(list(share = share, mean = setNames(data.frame("mean", question, "", t(window$mean)), COLUMNS[-(1:2)])))
    }
    share <- data.frame("share", question, part$option, shares(ones, n, channel$phi, channel$theta))
    scored <- if (all(is.na(part$score))) NULL else data.frame("mean", question, "", t(mean_of(part$score, ones, n, nrow(rows), channel)))
    list(share = setNames(share, COLUMNS[-(1:2)]), mean = if (!is.null(scored)) setNames(scored, COLUMNS[-(1:2)]))
  })
  rbind(do.call(rbind, lapply(lines, function(line) line$share)), do.call(rbind, lapply(lines, function(line) line$mean)))
}

# TRUE if two columns agree: texts in full, numbers in 6 digits.
same <- function(text, own) {
  if (is.character(own)) return(text == own)
  number <- suppressWarnings(as.numeric(text))
  ifelse(is.na(own), text == "", !is.na(number) & abs(number - own) <= 5e-7 * abs(own) + 1e-9)
}

script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- if (length(script)) dirname(normalizePath(script)) else "."
read <- function(name, ...) {
  read.csv(file.path(folder, name), check.names = FALSE, encoding = "UTF-8", stringsAsFactors = FALSE, na.strings = character(), ...)
}
numbers <- function(texts) suppressWarnings(as.numeric(texts))

rows <- read.csv(file.path(folder, "rows.csv"), check.names = FALSE, colClasses = "integer")
options <- read("codebook.csv", colClasses = "character")
for (name in c("code", "k", "d", "threshold", "score", "window", "low", "high")) options[[name]] <- numbers(options[[name]])
groups <- options[is.na(options$k) & options$question == "group", ]
items <- options[!is.na(options$k), ]

lines <- NULL
for (by_hand in if (any(rows$mode == BY_HAND)) 0:1 else 0) {
  of_mode <- rows[(rows$mode == BY_HAND) == (by_hand == 1), , drop = FALSE]
  lines <- rbind(lines, cbind(group = "", by_hand = by_hand, figures(of_mode, items)))
  for (i in seq_len(nrow(groups))) {
    selection <- of_mode[which(of_mode$group == groups$code[i]), , drop = FALSE]  # the group of some rows is withheld
    lines <- rbind(lines, cbind(group = groups$option[i], by_hand = by_hand, figures(selection, items)))
  }
}
write.csv(lines, file.path(folder, "reproduced.csv"), row.names = FALSE, na = "", fileEncoding = "UTF-8")
print(lines, digits = 6, row.names = FALSE)

published <- read("estimates.csv", colClasses = "character")
if (nrow(published) != nrow(lines)) {
  cat(nrow(published), "lines in estimates.csv,", nrow(lines), "computed\n")
  quit(status = 1)
}
wrong <- unlist(lapply(COLUMNS, function(name) {
  row <- which(!same(published[[name]], lines[[name]]))
  if (length(row)) paste0(lines$figure[row], " of ", lines$question[row], " ", lines$option[row], ": ", name)
}))
if (length(wrong)) cat(wrong, sep = "\n") else cat("All", nrow(lines), "lines agree with estimates.csv.\n")
quit(status = as.integer(length(wrong) > 0))
