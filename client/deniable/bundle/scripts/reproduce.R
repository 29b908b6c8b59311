# Computes every figure of estimates.csv again, from rows.csv and codebook.csv alone.
#
#     Rscript --vanilla reproduce.R
#
# It needs R and no package, and writes reproduced.csv beside the other files. Then it compares each figure with estimates.csv, and ends with 1
# where any of them differs in the first 6 digits. To see how a figure is made, read from `shares` and `mean_of` down.
#
# A record shows an option if the coins say so: with chance theta the option that was chosen, with chance phi each other one. Of n records of
# which a share f shows an option, the unbiased estimate of its share is (f - phi) / (theta - phi). A record of a number that goes through a
# window shows one output; the mean of their scores is an unbiased estimate of the numbers' mean (see `window`).

CONFIDENCE <- 0.95  # at least 0.75
ALPHA <- 1 - CONFIDENCE
Z <- -qnorm(ALPHA / 2)
BY_HAND <- 2  # the mode of those who tossed real coins: they are in no other figure
TIE <- 1e-10
COLUMNS <- c("group", "by_hand", "figure", "question", "option", "n", "ones", "estimate", "std_error", "low", "high", "adjusted")

bisected <- function(holds, inside, outside) {
  for (i in 1:100) {
    middle <- (inside + outside) / 2
    if (holds(middle)) inside <- middle else outside <- middle
  }
  inside
}

xlogy <- function(x, y) ifelse(x == 0, 0, x * log(ifelse(y > 0, y, 1e-300)))

# The limits of a rate that lies in [lowest, highest]: Feldman and Cousins, Phys. Rev. D 57 (1998), for a binomial count; for many records
# the likelihood ratio, which has the same shape.

# The rate up to which the log-likelihood is within `drop` of its value at `best`.
drop_upper <- function(y, n, best, highest, drop) {
  fall <- function(rate) {
    own <- if (y > 0) y * log1p((rate - best) / best) else 0
    if (rate >= 1) return(if (y < n) Inf else -own)
    -own - (n - y) * log1p(-(rate - best) / (1 - best))
  }
  if (fall(highest) <= drop) highest else bisected(function(rate) fall(rate) <= drop, best, highest)
}

# P(Y <= y) + P(Y >= other) for Y binomial (n, rate).
tails <- function(y, other, n, rate) pbinom(y, n, rate) + pbinom(other - 1, n, rate, lower.tail = FALSE)

# The largest rate whose p-value is above ALPHA: among pieces on which the counts that are no less surprising than y stay the same.
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
      return(bisected(function(rate) tails(y, others[i], n, rate) > ALPHA, starts[i], ends[i]))
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

# Shares >= 0 that add to 1: of two or three options the nearest ones, and so of more that are all 4 standard errors above 0; else an
# empirical Bayes estimate with a Dirichlet prior.

# The nodes and weights of Gauss-Legendre on [-1/2, 1/2], by the eigenvalues of a tridiagonal matrix (Golub and Welsch 1969).
gauss <- local({
  i <- 1:47
  beside <- i / sqrt(4 * i^2 - 1)
  jacobi <- matrix(0, 48, 48)
  jacobi[cbind(i, i + 1)] <- beside
  jacobi[cbind(i + 1, i)] <- beside
  found <- eigen(jacobi, symmetric = TRUE)
  list(nodes = found$values / 2, weights = found$vectors[1, ]^2)
})

nearest_shares <- function(point) {
  falling <- sort(point, decreasing = TRUE)
  lowered <- (cumsum(falling) - 1) / seq_along(point)
  found <- pmax(point - tail(lowered[falling > lowered], 1), 0)
  found / sum(found)
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
  found <- lapply(priors[length(estimate) * priors >= 1], function(a) posterior(estimate, variance, a))
  evidence <- sapply(found, function(one) one$evidence)
  weights <- exp(evidence - max(evidence))
  Reduce(`+`, Map(function(one, weight) one$means * weight, found, weights)) / sum(weights)
}

# log P(estimates | a), but for a constant, and the shares' mean under Dirichlet(a), by the tilt that makes them add to 1.
posterior <- function(estimate, variance, a) {
  k <- length(estimate)
  tilt <- 0
  low <- -Inf
  high <- Inf
  for (i in 1:200) {
    one <- tilted(estimate, variance, a, tilt)
    excess <- sum(one$means) - 1
    if (abs(excess) < 1e-9) break
    if (excess > 0) low <- tilt else high <- tilt
    newton <- tilt + excess / sum(one$spread)
    tilt <- if (newton > low && newton < high) newton else (low + high) / 2
  }
  evidence <- sum(one$mass) + tilt - log(sum(one$spread)) / 2 - k * lgamma(a) + lgamma(k * a)
  list(evidence = evidence, means = one$means / sum(one$means))
}

# Log mass, mean and variance of each density p^(a-1) exp(-(p - u)^2 / 2v - tilt p) over p > 0, by Gauss-Legendre in p^a.
tilted <- function(estimate, variance, a, tilt) {
  made <- mapply(function(u, v) {
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
  list(mass = made[1, ], means = made[2, ], spread = made[3, ])
}

# n, ones, estimate, standard error, limits and adjusted share of each option of a question, a row each.
shares <- function(ones, n, phi, theta) {
  if (n == 0) return(cbind(0, 0, matrix(NA, length(ones), 5)))
  rate <- ones / n
  gap <- theta - phi
  limits <- t(sapply(ones, function(y) pmin(1, pmax(0, (rate_limits(y, n, phi, theta) - phi) / gap))))
  inside <- pmin(theta, pmax(phi, rate))  # a standard error is never below that of the coins alone
  error <- sqrt(pmax(rate * (1 - rate), inside * (1 - inside)) / n) / gap
  cbind(n, ones, (rate - phi) / gap, error, limits, adjusted(ones, n, phi, theta))
}

# The mean of scores, among those who answered: a sum of the estimated shares, whose covariance follows from the coins.

# Of the k estimated shares times n: of the coins alone (sampling 0), or of people who are drawn, too (1).
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

# How many standard errors the limits of a mean of n records are away: as Student's t says, and sqrt(n / (n - 1)) times as many.
reach <- function(n) -qt(ALPHA / 2, max(n - 1, 1)) / sqrt(max(1 - 1 / n, 0.5))

# Limits of a mean of n records in [lowest, highest]: as Feldman and Cousins for a normal error, as many times wider as `reach` says.
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
      outer[i] <- bisected(function(v) normal_p(x, top, v) > ALPHA, best, outer[i])
    }
  }
  c(max(start + error * outer[1], lowest), if (outer[2] >= top) stop else min(start + error * outer[2], highest))
}

# E. Fieller, J. R. Stat. Soc. B 16 (1954), within the ends of the scale.
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

# n, no count, mean, standard error and limits; n and nothing where the records do not tell.
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
  weights <- rbind(values, as.numeric(answered))
  parts <- as.vector(weights %*% p)
  coins <- weights %*% covariance(p, 0, channel) %*% t(weights) / n
  plain <- weights %*% covariance(p, 1, channel) %*% t(weights) / n
  beyond <- eigen((plain - coins + t(plain - coins)) / 2, symmetric = TRUE)
  c0 <- coins + beyond$vectors %*% diag(pmax(beyond$values, 0)) %*% t(beyond$vectors)
  ratio(parts, c0, ends, n, none)
}

# The same of a ratio of two means with this covariance; `none` where the records do not tell.
ratio <- function(parts, c0, ends, n, none) {
  if (parts[2] <= 0) return(none)
  limits <- ratio_limits(parts[1], parts[2], c0, ends, n)
  if (all(limits == ends)) return(none)
  value <- parts[1] / parts[2]
  c(n, NA, value, sqrt(c0[1, 1] - 2 * value * c0[1, 2] + value^2 * c0[2, 2]) / parts[2], limits, NA)
}

# A number that goes through a window: the share of "no answer", where that can be given, and the mean among those who answered. The score of
# each output is so chosen that its mean is that of the numbers; "no answer" has an output of its own, which chance alone shows `width`
# times as often as another one.
window_of <- function(scores, ones, n, records, sizes, theta) {
  width <- sizes[1]
  ends <- sizes[2:3]
  answered <- !is.na(scores)
  apart <- sum(!answered)
  size <- length(scores)
  phi <- width * (1 - theta) / (if (apart) size - 1 else size - width)
  shown <- if (apart) shares(ones[size], n, phi, theta)
  if (apart && n > 0) shown[1, 7] <- min(1, max(0, shown[1, 3]))
  none <- c(records, rep(NA, 6))
  if (n == 0) return(list(shown = shown, mean = none))
  rates <- (ones + 1 / size) / (n + 1)  # as if one more record had come, any output alike
  if (!apart) {
    value <- sum(ones * scores) / n
    error <- sqrt(sum(rates * (scores - sum(rates * scores))^2) / n)
    return(list(shown = shown, mean = c(n, NA, value, error, normal_limits(value, error, n, ends[1], ends[2]), NA)))
  }
  counts <- ifelse(answered, theta, theta - 1) / (theta - phi)  # how many people who answered a record stands for
  added <- rbind(mean(ends) * counts + ifelse(answered, scores - mean(ends), 0), counts)
  spread <- added - as.vector(added %*% rates)
  c0 <- (spread * rep(rates, each = 2)) %*% t(spread) / n
  list(shown = shown, mean = ratio(as.vector(added %*% ones) / n, c0, ends, n, none))
}

# The lines of some rows: the shares of every question, then the means.
figures <- function(rows, items) {
  made <- lapply(unique(items$question), function(question) {
    part <- items[items$question == question, ]
    channel <- list(k = part$k[1], d = part$d[1], theta = part$threshold[1] / 2^32)
    channel$phi <- (channel$d - channel$theta) / (channel$k - 1)
    n <- sum(!is.na(rows[[part$variable[1]]]))
    ones <- mapply(function(name, code) sum(rows[[name]] == code, na.rm = TRUE), part$variable, part$code, USE.NAMES = FALSE)
    if (!is.na(part$window[1])) {
      found <- window_of(part$score, ones, n, nrow(rows), c(part$window[1], part$low[1], part$high[1]), channel$theta)
      shown <- if (!is.null(found$shown)) setNames(data.frame("share", question, "no answer", found$shown), COLUMNS[-(1:2)])
      return(list(shown = shown, mean = setNames(data.frame("mean", question, "", t(found$mean)), COLUMNS[-(1:2)])))
    }
    shown <- data.frame("share", question, part$option, shares(ones, n, channel$phi, channel$theta))
    scored <- if (all(is.na(part$score))) NULL else data.frame("mean", question, "", t(mean_of(part$score, ones, n, nrow(rows), channel)))
    list(shown = setNames(shown, COLUMNS[-(1:2)]), mean = if (!is.null(scored)) setNames(scored, COLUMNS[-(1:2)]))
  })
  rbind(do.call(rbind, lapply(made, function(one) one$shown)), do.call(rbind, lapply(made, function(one) one$mean)))
}

# TRUE where two columns agree: texts in full, numbers in 6 digits.
same <- function(told, own) {
  if (is.character(own)) return(told == own)
  number <- suppressWarnings(as.numeric(told))
  ifelse(is.na(own), told == "", !is.na(number) & abs(number - own) <= 5e-7 * abs(own) + 1e-9)
}

started <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- if (length(started)) dirname(normalizePath(started)) else "."
read <- function(name, ...) {
  read.csv(file.path(folder, name), check.names = FALSE, encoding = "UTF-8", stringsAsFactors = FALSE, na.strings = character(), ...)
}
numbers <- function(texts) suppressWarnings(as.numeric(texts))

rows <- read.csv(file.path(folder, "rows.csv"), check.names = FALSE, colClasses = "integer")
options <- read("codebook.csv", colClasses = "character")
for (name in c("code", "k", "d", "threshold", "score", "window", "low", "high")) options[[name]] <- numbers(options[[name]])
groups <- options[is.na(options$k) & options$question == "group", ]
items <- options[!is.na(options$k), ]

found <- NULL
for (by_hand in if (any(rows$mode == BY_HAND)) 0:1 else 0) {
  made <- rows[(rows$mode == BY_HAND) == (by_hand == 1), , drop = FALSE]
  found <- rbind(found, cbind(group = "", by_hand = by_hand, figures(made, items)))
  for (i in seq_len(nrow(groups))) {
    chosen <- made[which(made$group == groups$code[i]), , drop = FALSE]  # the group of some rows is withheld
    found <- rbind(found, cbind(group = groups$option[i], by_hand = by_hand, figures(chosen, items)))
  }
}
write.csv(found, file.path(folder, "reproduced.csv"), row.names = FALSE, na = "", fileEncoding = "UTF-8")
print(found, digits = 6, row.names = FALSE)

told <- read("estimates.csv", colClasses = "character")
if (nrow(told) != nrow(found)) {
  cat(nrow(told), "lines in estimates.csv,", nrow(found), "computed\n")
  quit(status = 1)
}
wrong <- unlist(lapply(COLUMNS, function(name) {
  line <- which(!same(told[[name]], found[[name]]))
  if (length(line)) paste0(found$figure[line], " of ", found$question[line], " ", found$option[line], ": ", name)
}))
if (length(wrong)) cat(wrong, sep = "\n") else cat("All", nrow(found), "lines are those of estimates.csv.\n")
quit(status = as.integer(length(wrong) > 0))
