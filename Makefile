# make demo            sets itself up, runs the main job from end to end, shows the results
# make test            sets itself up (a browser included), runs all checks and tests
# make quick           runs the tests that need no browser and little time
# make check, format   runs or fixes what ruff and mypy look at
# make long NAME=...   runs a long test by its name; without a name it lists them
# make bench NAME=...  runs a benchmark by its name: performance, atlas, peers and others in benchmarks/
# make messages, release-hashes, screenshots   bring what is derived from sources up to date
# make npm             writes the JavaScript client's package and its archive to build/npm
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Compiled modules are kept, whatever the environment says: without them the tests start half as fast, and so does every server that they start.
export PYTHONDONTWRITEBYTECODE :=
# Several tests run at once: were each multiplication of matrices shared out among all processors, too, they would wait for one another.
tests quick long-chance: export OPENBLAS_NUM_THREADS := 1

# No download waits for ever: each read has a limit and is tried again, and so has a whole step where the system has `timeout`.
export PIP_DEFAULT_TIMEOUT ?= 60
export PIP_RETRIES ?= 5
export UV_HTTP_TIMEOUT ?= 60
export UV_HTTP_RETRIES ?= 5
LIMIT := $(if $(shell command -v timeout),timeout -k 10 1200)

LONG := accessibility adversary backups canaries chance crowds downloads environments fonts forms frames fuzz-api guessers kills kills-bulk kills-move lint-api order stalls

.PHONY: bench browser check clean compiled demo format long messages npm quick release-hashes screenshots test tests
.PHONY: $(addprefix long-,$(LONG))

demo: $(VENV)/.server
	$(BIN)/deniable-server demo

# Several things at a time: what comes from elsewhere is fetched together, types are checked beside the first tests.
test:
	$(MAKE) --jobs 3 $(VENV)/.dev $(VENV)/.wheels $(VENV)/.typescript browser compiled
	$(MAKE) --jobs 2 check tests

# Six tests at a time keep two processors busy, since many wait for a browser; make test WORKERS=3 leaves room for other things.
WORKERS ?= 6
tests: $(VENV)/.dev $(VENV)/.wheels $(VENV)/.typescript
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -rR

# All tests are compiled once: each of the processes that run them would do it again.
compiled: $(VENV)/.dev
	$(BIN)/python -m pytest --collect-only -q > $(VENV)/compiled 2>&1 || { cat $(VENV)/compiled; exit 1; }

quick: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n auto -m "not browser and not slow"

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

browser:
	sh tests/install_browser.sh
	sh tests/fetch_fonts.sh $(VENV)/fonts

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	-$(LIMIT) $(BIN)/python -m pip install --quiet --upgrade pip
	-$(LIMIT) $(BIN)/python -m pip install --quiet uv

# uv does in seconds what takes pip a minute of computing; what uv cannot reach, pip may.
installed = $(LIMIT) $(BIN)/uv pip install --quiet --python $(BIN)/python --link-mode copy --editable '$(1)' \
  || $(LIMIT) $(BIN)/python -m pip install --quiet --editable '$(1)'

$(VENV)/.server: pyproject.toml | $(VENV)/bin/python
	$(call installed,.[all])
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(call installed,.[dev])
	touch $@ $(VENV)/.server

# What tests install into environments of their own, in the newest and in the lowest versions: they ask no package index for anything.
# Where uv or a wheel cannot be had, the lowest ones are left out, and so is their test.
LOWEST := $(VENV)/lowest
$(VENV)/.wheels: pyproject.toml | $(VENV)/bin/python
	$(LIMIT) $(BIN)/python -m pip wheel --quiet --wheel-dir $(VENV)/wheels '.[server]'
	rm $(VENV)/wheels/deniable-*.whl
	rm -rf $(LOWEST)
	$(LIMIT) $(BIN)/uv pip compile --quiet --resolution lowest-direct --only-binary :all: --python $(BIN)/python --extra server \
	  --output-file $(LOWEST)/pins.txt pyproject.toml \
	  && $(LIMIT) $(BIN)/python -m pip download --quiet --only-binary :all: --dest $(LOWEST) --requirement $(LOWEST)/pins.txt \
	  || rm -rf $(LOWEST)
	touch $@

# The compiler that checks the types of the JavaScript client: npm fetches it, as pip fetched Node. No test asks the registry for anything.
NPM = $(BIN)/python -m tests.kit.node
TYPESCRIPT := tests/client/javascript/typescript
$(VENV)/.typescript: $(TYPESCRIPT)/package.json $(VENV)/.dev
	rm -rf $(VENV)/typescript
	cp -r $(TYPESCRIPT) $(VENV)/typescript
	$(LIMIT) $(NPM) $(VENV)/typescript install --no-package-lock --ignore-scripts --no-audit --no-fund --silent
	touch $@

npm: $(VENV)/.dev
	$(BIN)/python client/javascript/pack.py

long-environments: $(VENV)/.dev
	$(BIN)/python -m tests.installed.environments $(if $(ONLY),--only '$(ONLY)')

# A long run by its name; each has a slice in the suite.
long:
	@$(if $(filter $(NAME),$(LONG)),$(MAKE) long-$(NAME),printf 'make long NAME=...: %s\n' '$(LONG)'; exit 2)

# Collects the texts of the respondents' pages and brings the catalogs up to date: docs/guide/languages.md.
MESSAGES := server/deniable_server/translations
messages: $(VENV)/.dev
	$(BIN)/pybabel --quiet extract --mapping-file babel.cfg --keywords t --keywords tn:1,2 --add-location file --sort-by-file \
	  --omit-header --width 120 --output-file $(MESSAGES)/deniable.pot templates/base.html templates/error.html templates/respondents client/deniable/browser \
	  client/deniable/privacy
	$(BIN)/pybabel --quiet update --domain deniable --input-file $(MESSAGES)/deniable.pot --output-dir $(MESSAGES) \
	  --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --width 120

# The hashes that `deniable verify` compares with: run it last, after any change to the respondents' page or what it loads.
release-hashes: $(VENV)/.dev
	$(BIN)/python -m deniable_server.operate.released

# Each XLSForm and each LimeSurvey survey in FOLDER is compared with its import: who is asked what, and whether the report names every difference.
FOLDER ?= .
long-forms: $(VENV)/.dev
	$(BIN)/python -m tests.kit.form_comparison $(FOLDER)

# At least 280 respondents in browsers of three engines: 140, and as many whose profiles are compared on all ways through the pages; and a search
# for their answers, and for whatever follows them, in every place.
long-canaries: $(VENV)/.dev browser
	DENIABLE_CANARY_SESSIONS=140 $(BIN)/python -m pytest -s --timeout 3600 tests/e2e/test_states.py tests/e2e/test_device_states.py \
	  tests/e2e/every_way.py tests/e2e/test_canaries.py tests/e2e/test_engines.py

# The tests that toss coins, with as many other coins as there are SEEDS: fails where any test fails with any of them.
SEEDS ?= 2 3 4 5 6 7 8 9
long-chance: $(VENV)/.dev
	$(BIN)/python -m tests.chance $(SEEDS)

# 50 backups of a server under load, each restored: all that was acknowledged before it began is there, in its order.
long-backups: $(VENV)/.dev
	DENIABLE_BACKUPS=50 $(BIN)/python -m pytest -s --timeout 3600 tests/server/operate/test_restore.py

# 2,000 requests to each operation of the API, right and wrong ones: no failure, and no reply that its description does not have.
long-fuzz-api: $(VENV)/.dev
	DENIABLE_API_CASES=2000 $(BIN)/python -m pytest tests/server/api/test_openapi.py

# The API's description, by the linters of Redocly and Spectral; npm fetches them. The suite has the rules that they found broken.
long-lint-api: $(VENV)/.dev
	$(BIN)/python -c 'import json; from deniable_server.api.openapi import document; print(json.dumps(document()))' > $(VENV)/openapi.json
	npx --yes @redocly/cli lint $(VENV)/openapi.json
	printf 'extends: ["spectral:oas"]\n' > $(VENV)/spectral.yaml
	npx --yes @stoplight/spectral-cli lint --ruleset $(VENV)/spectral.yaml $(VENV)/openapi.json

# 64 guessers of passwords beside 4 respondents: prints what the respondents feel of it, and fails where that is twice their time or more.
long-guessers: $(VENV)/.dev
	DENIABLE_GUESSERS_SECONDS=30 $(BIN)/python -m pytest -s tests/server/researchers/test_guessers.py

# 40 researchers who have everything computed beside 4 respondents: prints what the respondents feel of it, and fails where a median doubles.
long-crowds: $(VENV)/.dev
	DENIABLE_CROWDS_SECONDS=10 $(BIN)/python -m pytest -s --timeout 3600 tests/server/front/test_crowds.py

# The memory that each download of 1,000,000 and of 10,000,000 records takes: ten minutes.
long-downloads: $(VENV)/.dev
	DENIABLE_RECORDS=1000000 DENIABLE_TIMES=10 $(BIN)/python -m pytest -s --timeout 7200 tests/server/results/test_download_memory.py

# The game of docs/reference/adversary.md for half an hour: prints the games played; what is found is printed with its moves.
ADVERSARY_SECONDS ?= 1800
long-adversary: $(VENV)/.dev
	DENIABLE_ADVERSARY_SECONDS=$(ADVERSARY_SECONDS) $(BIN)/python -m pytest -s --timeout 0 tests/server/adversary

# A thief, a poller and a nightly copy against 1,000 respondents of a small survey.
long-order: $(VENV)/.dev
	DENIABLE_PEOPLE=1000 $(BIN)/python -m pytest -s tests/server/store/sqlite/test_small_surveys.py tests/server/store/sqlite/test_unordered.py

# A server killed 50 times under load: what it acknowledged is there, once.
long-kills: $(VENV)/.dev
	DENIABLE_KILLS=50 $(BIN)/python -m pytest -s tests/server/store/test_kill.py tests/server/store/postgres/test_processes.py

# A client that sends 1,000,000 rows and its server, each killed 200 times: each row is randomized once and counted once.
long-kills-bulk: $(VENV)/.dev
	DENIABLE_BULK_KILLS=200 $(BIN)/python -m pytest -s tests/server/store/test_kill_bulk.py

# 20 moves in each direction between SQLite and PostgreSQL, killed under load: one of the databases is complete, and nothing is lost.
long-kills-move: $(VENV)/.dev
	DENIABLE_MOVE_KILLS=20 $(BIN)/python -m pytest -s --timeout 3600 tests/server/operate/test_move.py

# 3,000 error paths between an answer and its acknowledgement, 1,000 interrupts, and a search of their error reports for answers; and an
# interrupt at every line of a bulk job, whose next call goes on: 9 minutes.
long-frames: $(VENV)/.dev
	$(BIN)/python -m tests.client.frames 3000
	$(BIN)/python -m tests.client.frames signals 1000
	DENIABLE_INTERRUPTS=1 $(BIN)/python -m pytest tests/client/test_interrupts.py

# 1,550 clients that never finish a request, for a minute, beside four honest ones whose every request must take less than a second.
long-stalls: $(VENV)/.dev
	DENIABLE_STALL_SECONDS=60 $(BIN)/python -m pytest -s tests/server/front/test_stalls.py

# Every state of the respondents' pages in all languages, and every page of researchers, in all widths and schemes; what a screen reader
# gets is kept in the folder, to be read.
long-accessibility: $(VENV)/.dev browser
	ACCESSIBILITY=accessibility $(BIN)/python -m pytest -n 2 tests/e2e/test_accessibility.py tests/e2e/test_results_look.py tests/e2e/test_door_look.py

# The tests that use a browser, with three sets of fonts: most desktops have Noto, phones have Roboto.
FONTS ?= dejavu noto roboto
long-fonts: $(VENV)/.dev browser
	for fonts in $(FONTS); do DENIABLE_FONTS=$$fonts $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -rR -m browser || exit 1; done

screenshots: $(VENV)/.dev browser
	$(BIN)/python examples/screenshots.py

# A benchmark by its name: performance (every figure beside its limit), atlas (every estimate's coverage; some hours), peers (other packages,
# in an environment of their own), or another module of benchmarks/. ARGS: options for it, such as --quick, "--against FILE" or "--only mean".
NAME ?= performance
bench: $(VENV)/.dev $(if $(filter peers,$(NAME)),.venv-peers/.done)
	$(BIN)/python -m benchmarks.$(NAME) $(ARGS)

.venv-peers/.done: benchmarks/peers-requirements.txt
	$(PYTHON) -m venv .venv-peers
	$(LIMIT) .venv-peers/bin/python -m pip install --quiet --requirement benchmarks/peers-requirements.txt
	touch $@

clean:
	rm -rf $(VENV) .venv-peers build demo dist
