"""Program on the page of public results: recomputes every published estimate from counts and definition, in plain Python."""

PROGRAM = """\
import hashlib, json, sys
results, raw = json.load(open(sys.argv[1])), open(sys.argv[2], "rb").read()
assert hashlib.sha256(raw).hexdigest() == results["digest"], "another definition"
questions, wrong = {q["id"]: q for q in json.loads(raw)["questions"]}, 0

def compare(name, published, computed):
    global wrong
    if published is not None and abs(published - computed) > 1e-9 * max(1, abs(computed)):
        wrong += 1
        print("differs:", name, published, computed)

for table in results["tables"]:
    for item in table["items"]:
        if not item["n"]:
            continue
        q = questions[item["id"]] if item["id"] in questions else questions[item["id"].split("[")[0]]
        rates = [count / item["n"] for count in item["recorded"]]
        theta, k, w = q["keep_threshold"] / 2**32, q["k"], q.get("window", 0)
        apart = w and item["scores"][-1] is None
        phi = (w * (1 - theta) / (len(rates) - (1 if apart else w))) if w else (q["d"] - theta) / (k - 1)
        shares = [(rate - phi) / (theta - phi) for rate in rates]
        for row, share in zip(item["shares"], shares[-len(item["shares"]):]):
            compare((item["id"], row["option"]), row["estimate"], share)
        scores, mean = item["scores"], item["mean"]
        if mean and mean["estimate"] is not None:
            if w and not apart:
                compare((item["id"], "mean"), mean["estimate"], sum(s * r for s, r in zip(scores, rates)))
            elif w:
                middle = (float(q["low"]) + float(q["high"])) / 2
                people = [(theta if s is not None else theta - 1) / (theta - phi) for s in scores]
                sums = [middle * p + (0 if s is None else s - middle) for s, p in zip(scores, people)]
                compare((item["id"], "mean"), mean["estimate"],
                        sum(x * r for x, r in zip(sums, rates)) / sum(p * r for p, r in zip(people, rates)))
            else:
                known = [(s, p) for s, p in zip(scores, shares) if s is not None]
                compare((item["id"], "mean"), mean["estimate"], sum(s * p for s, p in known) / sum(p for s, p in known))
print("all estimates agree" if not wrong else f"{wrong} estimates differ")
sys.exit(bool(wrong))
"""
"""The program; `PROGRAM RESULTS DEFINITION` exits with 1 if an estimate differs. It needs nothing but Python."""
