# What R's package survey makes of true answers: Rscript tests/vectors/make_samples.R > tests/vectors/samples.json
# The people are made by arithmetic, so that they are the same everywhere. Weights are raked until they no longer change.
suppressMessages(library(survey))

clinics <- 12
sizes <- c(31, 18, 44, 27, 9, 36, 22, 15, 40, 29, 12, 25)
region <- c("north", "north", "north", "north", "south", "south", "south", "west", "west", "west", "west", "west")
kind <- c("large", "small", "large", "small", "small", "large", "small", "small", "large", "large", "small", "large")
clinic <- rep(seq_len(clinics), sizes)
i <- sequence(sizes)
people <- data.frame(
  clinic = clinic, region = region[clinic], kind = kind[clinic],
  smokes = as.integer((i * 7 + clinic * 5) %% 11 < 2 + clinic %% 4),
  mood = 1 + (i * i + 3 * clinic + (i * clinic) %% 5) %% 4,
  sex = as.integer((i * 3 + clinic) %% 7 < 3)
)
people$moods <- factor(people$mood)
people$sexes <- factor(people$sex)
people$both <- factor(paste(people$smokes, people$mood))
people$smokes_by_sex <- factor(paste(people$smokes, people$sex))
people$clinics_there <- c(north = 9, south = 20, west = 7)[people$region]
people$people_there <- c(north = 400, south = 90, west = 1000)[people$region]

regions <- c(north = 300, south = 450, west = 250)
kinds <- c(large = 550, small = 450)
sexes <- c("0" = 480, "1" = 520)
first <- function(sums) c("(Intercept)" = sum(sums), sums[-1])
totals <- function(...) {
  found <- 1000
  names(found) <- "(Intercept)"
  for (margin in list(...)) found <- c(found, margin[-1])
  found
}
raked <- function(design, formula, population) suppressWarnings(calibrate(design, formula, setNames(population, NULL), calfun = "raking", epsilon = 1e-13, maxit = 500))
flat <- function(...) svydesign(..., data = people)
alone <- flat(ids = ~1, weights = ~1)
drawn <- flat(ids = ~clinic, weights = ~1)
left_out <- outer(clinic, seq_len(clinics), function(one, out) ifelse(one == out, 0, clinics / (clinics - 1)))
drawn_again <- outer(clinic, 1:20, function(one, draw) (one * one + one * draw + 2 * draw) %% 4 / 2)
replicated <- function(numbers, scale) svrepdesign(
  data = people, weights = ~ rep(1, nrow(people)), repweights = numbers, type = "other", scale = scale,
  rscales = rep(1, ncol(numbers)), combined.weights = FALSE
)
designs <- list(
  jackknife = replicated(left_out, (clinics - 1) / clinics),
  bootstrap = replicated(drawn_again, 1 / 20),
  alone = alone,
  clusters = drawn,
  strata = flat(ids = ~1, strata = ~region, weights = ~1),
  strata_of_known_size = flat(ids = ~1, strata = ~region, fpc = ~people_there),
  clusters_in_strata = flat(ids = ~clinic, strata = ~region, weights = ~1),
  clusters_of_known_number = flat(ids = ~clinic, strata = ~region, fpc = ~clinics_there),
  post_stratified = postStratify(alone, ~region, data.frame(region = names(regions), Freq = regions)),
  raked = raked(alone, ~ region + kind, totals(regions, kinds)),
  raked_clusters = raked(drawn, ~ region + kind, totals(regions, kinds)),
  raked_to_a_question = raked(drawn, ~ region + sexes, totals(regions, sexes)),
  raked_to_a_question_alone = raked(alone, ~sexes, totals(sexes))
)

number <- function(x) paste0("[", paste(sprintf("%.12g", x), collapse = ", "), "]")
figure <- function(name, formula, design) {
  found <- svymean(formula, design)
  sprintf('    "%s": {"estimates": %s, "std_errors": %s}', name, number(coef(found)), number(SE(found)))
}
case <- function(name) {
  design <- designs[[name]]
  figures <- c(
    figure("smokes", ~smokes, design), figure("moods", ~moods, design), figure("mood", ~mood, design),
    figure("smokes_by_sex", ~smokes_by_sex, design)
  )
  if (!grepl("question", name)) figures <- c(figures, figure("smokes_by_mood", ~both, design))
  sprintf('  "%s": {\n    "df": %d,\n%s\n  }', name, degf(design), paste(figures, collapse = ",\n"))
}
rows <- sprintf("[%d, %d, %d, %d]", people$clinic, people$smokes, people$mood, people$sex)
cat("{\n \"source\": \"R", as.character(getRversion()), "survey", as.character(packageVersion("survey")), "by tests/vectors/make_samples.R\",\n")
cat(' "people": [', paste(rows, collapse = ", "), "],\n", sep = "")
cat(' "designs": {\n', paste(sapply(names(designs), case), collapse = ",\n"), "\n }\n}\n", sep = "")
