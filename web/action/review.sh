#!/usr/bin/env bash
# Index the checked-out revision, review it against its base, and write or replace the comment of the pull request.
set -euo pipefail

index="$RUNNER_TEMP/graphmem/index"
out="$RUNNER_TEMP/graphmem-review"
mkdir -p "$out"
[ -n "${REVIEW_INSTALLED:-}" ] || python3 -m pip install --quiet --disable-pip-version-check "$REVIEW_VERSION"

# The base of the event is the tip of the target branch; a shallow clone does not contain it, and may not contain the merge base.
base="$REVIEW_BASE"
if [ -z "$base" ]; then
  tip=$(python3 -c 'import json, os; print(json.load(open(os.environ["GITHUB_EVENT_PATH"])).get("pull_request", {}).get("base", {}).get("sha", ""))')
  if [ -z "$tip" ]; then
    echo "::error::the event has no pull request; set the input 'base'"
    exit 2
  fi
  git cat-file -e "$tip^{commit}" 2>/dev/null || git fetch --quiet --no-tags origin "$tip"
  base=$(git merge-base "$tip" HEAD || true)
  if [ -z "$base" ] && [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    git fetch --quiet --no-tags --unshallow origin
    base=$(git merge-base "$tip" HEAD || true)
  fi
  base="${base:-$tip}"
fi

graphmem index . --db "$index" --quiet
graphmem review "$base..HEAD" --db "$index" --write-all "$out"

python3 - "$out" "$GITHUB_OUTPUT" "$GITHUB_STEP_SUMMARY" <<'PYTHON'
import json, os, pathlib, sys, uuid
import urllib.error, urllib.request

out, outputs, summary = map(pathlib.Path, sys.argv[1:])
review = json.loads((out / "review.json").read_text(encoding="utf-8"))
comment = (out / "comment.md").read_text(encoding="utf-8")
end = f"end-{uuid.uuid4()}"
with outputs.open("a", encoding="utf-8") as file:
    file.write(f"risk={review['risk']['level']}\ntests={out / 'tests.xml'}\nsarif={out / 'review.sarif'}\n")
    file.write(f"command<<{end}\n{(out / 'commands.sh').read_text(encoding='utf-8')}{end}\n")
with summary.open("a", encoding="utf-8") as file:
    file.write(comment)

event = json.loads(pathlib.Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
number = event.get("pull_request", {}).get("number")
if not number or os.environ["REVIEW_COMMENT"] != "true":
    sys.exit(0)
comments = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"


def ask(method, address, body=None):
    headers = {"Authorization": f"Bearer {os.environ['REVIEW_TOKEN']}", "Accept": "application/vnd.github+json"}
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method), timeout=30) as answer:
        return json.load(answer)


marker = comment.splitlines()[0]
try:
    known, page = None, 1
    while known is None:
        some = ask("GET", f"{comments}/{number}/comments?per_page=100&page={page}")
        known = next((one for one in some if one["body"].startswith(marker)), None)
        if len(some) < 100:
            break
        page += 1
    if known:
        ask("PATCH", f"{comments}/comments/{known['id']}", {"body": comment})
    else:
        ask("POST", f"{comments}/{number}/comments", {"body": comment})
except urllib.error.HTTPError as error:  # a pull request from a fork has a token that may only read
    print(f"::warning::the comment was not written (status {error.code}); the review is in the summary of this job")
PYTHON

if [ -n "$REVIEW_FAIL_ON" ]; then
  graphmem review "$base..HEAD" --db "$index" --quiet --fail-on "$REVIEW_FAIL_ON" > /dev/null
fi
