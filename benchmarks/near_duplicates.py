"""Cosine thresholds for duplicate memories and for memories about the same topic, by model.

    python -m benchmarks near_duplicates [--models DIR] [--write]

Labelled pairs of sentences are in this file: the same fact in other words, another fact about the same topic, and the opposite. For each
installed embedder, `duplicate` is the lowest cosine above which at most one in fifty pairs of another fact lies. `topic` is the cosine that
nineteen in twenty of the opposites reach. --write stores both in `graphmem/memory/texts/thresholds.json`, which the write path reads.

The second table is about joining, which hides one of two memories from search. It has precision and recall on these pairs, on sentences
repeated with small changes (`SAID_AGAIN`), and on sentences that differ in one word or in word order (`ONE_WORD`). The last two
sets have no effect on the thresholds, because no cosine separates them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import report

import graphmem.memory
from graphmem.embedding.base import Embedder
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.packaged import FULL
from graphmem.embedding.quantised import QuantisedEmbedder, missing_for
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.location import models_dir
from graphmem.memory.texts.similar import (
    OVERLAP,
    Similarity,
    Thresholds,
    name_of,
    opposed,
    overlap,
    says_it_in_other_words,
    says_the_same,
    words_of,
)
from graphmem.memory.texts.text import contextual_text

THRESHOLDS = Path(graphmem.memory.__file__).parent / "texts" / "thresholds.json"
SPARED = 0.02  # allowed share of pairs above the threshold that are not duplicates
REACHED = 0.95  # share of the opposites above `topic`

SAME = [
    ("Run the migrations before the test suite, or fixtures fail.", "Fixtures break unless migrations have been applied before testing."),
    ("The parser drops comments at the end of a file.", "Comments at the end of a file are lost by the parser."),
    ("Carts are kept in Redis for thirty minutes.", "Redis holds carts for half an hour."),
    ("We chose Postgres because we need transactions across tables.", "Postgres was picked since cross-table transactions are required."),
    (
        "Never call the billing API from a request handler, it blocks.",
        "Request handlers must not call the billing API because that blocks.",
    ),
    ("The worker reads jobs from the queue in batches of ten.", "Jobs are taken from the queue by the worker ten at a time."),
    ("Tests of the search module need the model to be downloaded.", "To test the search module the model has to be downloaded first."),
    ("Sessions are invalidated when the password changes.", "Changing the password ends all sessions."),
    ("The export endpoint streams its answer to save memory.", "To keep memory low, the export endpoint streams the response."),
    ("Use UTC everywhere and convert at the border.", "All times are UTC inside; conversion happens at the edges."),
    ("Importing the plotting module takes two seconds.", "It takes two seconds to import the plotting module."),
    ("The retry decorator swallows keyboard interrupts.", "Keyboard interrupts are swallowed by the retry decorator."),
    ("Feature flags are read once at start-up.", "Flags for features are only read when the process starts."),
    ("A deleted user keeps the audit entries.", "Audit entries stay when their user is deleted."),
    (
        "The cache key lacks the tenant, so tenants see each other's data.",
        "Tenants see each other's data because the tenant is missing from the cache key.",
    ),
    (
        "Uploads larger than a gigabyte time out behind the proxy.",
        "Behind the proxy, uploading more than one gigabyte runs into a timeout.",
    ),
    ("The scheduler must run as a single instance.", "Only one instance of the scheduler may run."),
    ("Prices are stored as integers of cents.", "We store prices in cents, as whole numbers."),
    (
        "The webhook handler has to be idempotent as events come twice.",
        "Events can be delivered twice, so make the webhook handler idempotent.",
    ),
    ("The admin pages use server-side rendering.", "Admin pages are rendered on the server."),
    ("Errors of the mail provider are retried three times.", "Three retries are made when the mail provider fails."),
    ("The nightly build takes forty minutes on two cores.", "On two cores the nightly build needs forty minutes."),
    ("Search results are ordered by relevance and then by date.", "Results of a search are sorted by relevance, then date."),
    ("The config loader ignores unknown keys silently.", "Unknown keys are silently ignored when the configuration is loaded."),
    ("Docker images are built from the lock file.", "The lock file is what Docker images are built from."),
    ("The tokenizer is not safe to share between threads.", "Threads must not share the tokenizer."),
    ("The importer skips rows without an email address.", "Rows that have no email address are skipped on import."),
    ("Log lines carry the request id.", "Every log line includes the id of the request."),
    ("Refunds are only possible within fourteen days.", "A refund can be given for fourteen days only."),
    ("The health check does not touch the database.", "The database is not queried by the health check."),
    ("The frontend caches translations in local storage.", "Translations are cached by the frontend in local storage."),
    ("Schema changes need two deployments: add, then remove.", "A change of schema takes two deploys, first adding and then removing."),
]
OTHER = [
    ("Run the migrations before the test suite, or fixtures fail.", "Run the linter before the test suite, it is faster."),
    ("The parser drops comments at the end of a file.", "The parser keeps comments at the beginning of a function."),
    ("Carts are kept in Redis for thirty minutes.", "Carts are emptied after payment."),
    ("We chose Postgres because we need transactions across tables.", "Postgres runs on its own machine in production."),
    ("Never call the billing API from a request handler, it blocks.", "The billing API returns amounts in cents."),
    ("The worker reads jobs from the queue in batches of ten.", "The worker writes its results to the archive bucket."),
    ("Tests of the search module need the model to be downloaded.", "The search module loads its model lazily."),
    ("Sessions are invalidated when the password changes.", "Sessions are stored in a signed cookie."),
    ("The export endpoint streams its answer to save memory.", "The export endpoint needs an administrator."),
    ("Use UTC everywhere and convert at the border.", "Use ISO dates in file names."),
    ("Importing the plotting module takes two seconds.", "The plotting module is used by the reports alone."),
    ("The retry decorator swallows keyboard interrupts.", "The retry decorator waits longer after each attempt."),
    ("Feature flags are read once at start-up.", "Feature flags are removed a month after launch."),
    ("A deleted user keeps the audit entries.", "Audit entries are shown to administrators only."),
    ("The cache key lacks the tenant, so tenants see each other's data.", "The cache is cleared whenever a tenant is created."),
    ("Uploads larger than a gigabyte time out behind the proxy.", "Uploads are scanned for viruses before they are stored."),
    ("The scheduler must run as a single instance.", "The scheduler reads its jobs from a table."),
    ("Prices are stored as integers of cents.", "Prices are rounded to the next full euro in the catalogue."),
    ("The webhook handler has to be idempotent as events come twice.", "The webhook handler checks the signature of every event."),
    ("The admin pages use server-side rendering.", "The admin pages are behind the company login."),
    ("Errors of the mail provider are retried three times.", "Errors of the mail provider are counted in a metric."),
    ("The nightly build takes forty minutes on two cores.", "The nightly build publishes the documentation."),
    ("Search results are ordered by relevance and then by date.", "Search results are limited to two hundred."),
    ("The config loader ignores unknown keys silently.", "The config loader merges the files of all parents."),
    ("Docker images are built from the lock file.", "Docker images are scanned once a week."),
    ("The tokenizer is not safe to share between threads.", "The tokenizer truncates after 256 tokens."),
    ("The importer skips rows without an email address.", "The importer writes rows in batches of five hundred."),
    ("Log lines carry the request id.", "Log lines are shipped to the archive after a week."),
    ("Refunds are only possible within fourteen days.", "Refunds are paid in the currency of the order."),
    ("The health check does not touch the database.", "The health check answers within ten milliseconds."),
    ("The frontend caches translations in local storage.", "The frontend loads fonts from its own server."),
    ("Schema changes need two deployments: add, then remove.", "Schema changes are reviewed by the data team."),
]
OPPOSITE = [
    ("Always run the formatter before committing.", "Never run the formatter before committing."),
    ("Use the global session in request handlers.", "Don't use the global session in request handlers."),
    ("Enable caching on the search endpoint.", "Disable caching on the search endpoint."),
    ("Workers should retry failed payments.", "Workers should not retry failed payments."),
    ("Add the tenant to cache keys.", "Remove the tenant from cache keys."),
    ("The importer accepts rows without an email address.", "The importer rejects rows without an email address."),
    ("Prefer composition over inheritance in the plug-in layer.", "Avoid composition in the plug-in layer, use inheritance."),
    ("The tokenizer is safe to share between threads.", "The tokenizer is not safe to share between threads."),
    ("Use httpx instead of requests in new code.", "Use requests instead of httpx in new code."),
    ("Unknown keys are allowed in the configuration file.", "Unknown keys are forbidden in the configuration file."),
    ("Log request bodies in staging.", "Do not log request bodies in staging."),
    ("The health check must query the database.", "The health check must not query the database."),
    ("Include vendored files in the index.", "Exclude vendored files from the index."),
    ("Tests may touch the network.", "Tests must never touch the network."),
    ("Type hints are required in public functions.", "Type hints are optional in public functions."),
    ("The scheduler can run in several instances.", "The scheduler cannot run in several instances."),
    ("Keep deleted users in the archive table.", "Don't keep deleted users in the archive table."),
    ("Commit generated files.", "Never commit generated files."),
    ("Retries are enabled for the mail provider.", "Retries are disabled for the mail provider."),
    ("The export endpoint works with anonymous users.", "The export endpoint does not work with anonymous users."),
]
SAID_AGAIN = [
    ("Windows builds are signed by the release manager.", "The Windows build is signed by the release manager."),
    ("Run the smoke tests before tagging a release.", "run smoke tests before tagging the release"),
    ("The config loader reads overrides from the environment last.", "The configuration loader reads overrides from the env last."),
    ("Don't share a Session between threads.", "Do not share a session between threads!"),
    ("Never call flush_all() from a signal handler.", "Never call flush_all() from a signal handler, it takes the queue lock."),
    ("All timestamps in the audit log are UTC.", "Timestamps in the audit log are all UTC."),
    ("The importer commits after every 500 rows.", "The importer commits after every 500 rows; a crash loses at most those."),
    ("Feature branches are squashed on merge.", "A feature branch is squashed on merge."),
    ("Server-side rendering is off in the admin pages.", "Server side rendering is off in the admin pages."),
    ("The prod database has no foreign keys on the events table.", "The production db has no foreign keys on the events table."),
    ("Retries of the mailer back off exponentially.", "The mailer backs off exponentially between retries."),
    ("Integration tests need Docker to be running.", "Docker has to be running for the integration tests."),
    ("The lock is released when the worker exits.", "When the worker exits, the lock is released."),
    ("Keep migrations backwards compatible for one release.", "For one release, migrations have to stay backwards compatible."),
    ("The gateway strips the Authorization header.", "The Authorization header is stripped by the gateway."),
]
ONE_WORD = [
    (
        "windows builds are signed by the release manager before they are uploaded to the mirror",
        "macos builds are signed by the release manager before they are uploaded to the mirror",
    ),
    ("the page cache must be cleared before deploying to staging", "the page cache must be cleared after deploying to staging"),
    ("take the read lock before the write lock", "take the write lock before the read lock"),
    ("session tokens of the api gateway are kept in redis for a day", "session tokens of the api gateway are kept in postgres for a day"),
    ("the test runner writes its progress report to stdout by default", "the test runner writes its progress report to stderr by default"),
    ("the billing service retries failed calls to the mail provider", "the search service retries failed calls to the mail provider"),
    ("dates are stored in utc and shown in local time", "dates are stored in local time and shown in utc"),
    ("durable record alpha33 keeps value v429 in slot s33", "durable record alpha34 keeps value v430 in slot s34"),
    ("The nightly job rebuilds the search index on the primary.", "The nightly job rebuilds the search index on the replica."),
    ("Uploads to the mirror are served over http inside the cluster.", "Uploads to the mirror are served over https inside the cluster."),
    (
        "The scheduler copies finished jobs from the queue to the archive.",
        "The scheduler copies finished jobs from the archive to the queue.",
    ),
    ("The ingest worker blocks while the schema cache is filled.", "The ingest worker is blocked while the schema cache is filled."),
    ("The billing API calls the ledger API synchronously on checkout.", "The ledger API calls the billing API synchronously on checkout."),
    ("We used Celery for the report queue of the web application.", "We use Celery for the report queue of the web application."),
    ("Requests above the quota are answered with status 429.", "Requests above the quota are answered with status 503."),
    ("Only admins may restart the import workers in production.", "Only admins may restart the import workers in staging."),
    ("Tenant A keeps its documents on shard B of the cluster.", "Tenant B keeps its documents on shard A of the cluster."),
    ("The parser must run in the main thread of the editor.", "The parser may run in the main thread of the editor."),
    ("The release branch is cut on Monday and tagged on Thursday.", "The release branch is cut on Thursday and tagged on Monday."),
    ("Each retry of the uploader doubles the delay up to the limit.", "Each retry of the uploader doubles the limit up to the delay."),
    ("Run the linter with --strict on the generated client.", "Run the linter with --strict on the generated server."),
    ("Backups of the graph are encrypted with the team key.", "Backups of the graph are encrypted with the user key."),
    ("The profiler needs the debug build of the native extension.", "The profiler needs the release build of the native extension."),
]


def cosines(embedder: Embedder, pairs: list[tuple[str, str]]) -> np.ndarray:
    """Return the cosine of each pair, embedded like memories of one type."""
    one, other = (embedder.encode([contextual_text(pair[side], "pattern", [], []) for pair in pairs]) for side in (0, 1))
    return np.sum(one * other, axis=1)


def calibrate(embedder: Embedder) -> dict[str, Any]:
    """Return the thresholds of a model, and their results on the pairs."""
    same, other, opposite, again, one_word = (cosines(embedder, pairs) for pairs in (SAME, OTHER, OPPOSITE, SAID_AGAIN, ONE_WORD))
    # Opposites are recognised by their words first, so only another fact about the same topic can be mistaken for a duplicate.
    duplicate = round(float(np.quantile(other, 1 - SPARED)) + 0.005, 3)
    topic = round(float(np.quantile(opposite, 1 - REACHED)) - 0.005, 3)
    limits = Thresholds(duplicate, min(topic, duplicate), len(SAME) + len(OTHER) + len(OPPOSITE))

    def near(pair: tuple[str, str], cosine: float) -> Similarity:
        return Similarity(overlap(words_of(pair[0]), words_of(pair[1])), float(cosine))

    def joined(pairs: list[tuple[str, str]], values: np.ndarray) -> int:
        # The rules for contradictions apply to opposed pairs first.
        return sum(
            says_the_same(*pair, near(pair, cosine), limits) and not opposed(*pair) for pair, cosine in zip(pairs, values, strict=True)
        )

    def recognised(pairs: list[tuple[str, str]], values: np.ndarray) -> float:
        found = (
            says_the_same(*pair, near(pair, cosine), limits) or says_it_in_other_words(*pair, near(pair, cosine), limits)
            for pair, cosine in zip(pairs, values, strict=True)
        )
        return sum(found) / len(pairs)

    right = joined(SAME, same) + joined(SAID_AGAIN, again)
    wrong = joined(OTHER, other) + joined(OPPOSITE, opposite) + joined(ONE_WORD, one_word)
    return {
        "duplicate": limits.duplicate,
        "topic": limits.topic,
        "pairs": limits.pairs,
        "same_recognised": recognised(SAME, same),
        "other_mistaken": recognised(OTHER, other),
        "one_word_mistaken": recognised(ONE_WORD, one_word),
        "joined": {
            "right": right,
            "wrong": wrong,
            "precision": right / (right + wrong) if right + wrong else 1.0,
            "recall": right / (len(SAME) + len(SAID_AGAIN)),
            "recall_said_again": joined(SAID_AGAIN, again) / len(SAID_AGAIN),
        },
        "opposites_recognised": sum(
            opposed(*pair) and (near(pair, cosine).overlap >= 0.5 or cosine >= limits.topic)
            for pair, cosine in zip(OPPOSITE, opposite, strict=True)
        )
        / len(OPPOSITE),
        "same_taken_for_opposites": sum(opposed(*pair) for pair in SAME) / len(SAME),
        "cosines": {
            name: [round(float(np.quantile(values, share)), 3) for share in (0.05, 0.5, 0.95)]
            for name, values in (
                ("same", same),
                ("other", other),
                ("opposite", opposite),
                ("confirmed_by_repetition", again),
                ("one_word", one_word),
            )
        },
    }


def main() -> int:
    """Measure, print, and write the thresholds with --write."""
    parser = report.parser(__doc__)
    parser.add_argument("--models", type=Path, default=models_dir({}), help="where prepared models are kept")
    parser.add_argument("--write", action="store_true", help="write graphmem/memory/texts/thresholds.json")
    arguments = parser.parse_args()
    embedders: list[Embedder] = [HashedEmbedder()]
    if FULL.path() is not None:
        embedders.append(SentenceEmbedder())
        if not missing_for(arguments.models):
            embedders.append(QuantisedEmbedder(arguments.models))
    found = {name_of(embedder.model_id): calibrate(embedder) for embedder in embedders}
    report.table(
        ["model", "duplicate", "topic", "same recognised", "other mistaken", "opposites recognised"],
        [
            [name, row["duplicate"], row["topic"], row["same_recognised"], row["other_mistaken"], row["opposites_recognised"]]
            for name, row in found.items()
        ],
    )
    report.table(
        ["model", "joined, right", "joined, wrong", "precision", "recall", "recall of repeated sentences"],
        [
            [name, *(row["joined"][key] for key in ("right", "wrong", "precision", "recall", "recall_said_again"))]
            for name, row in found.items()
        ],
    )
    report.publish("near_duplicates", {"words": OVERLAP, "models": found}, arguments.out)
    if arguments.write:
        models = {name: {key: row[key] for key in ("duplicate", "topic", "pairs")} for name, row in found.items()}
        models["default"] = {"duplicate": 0.85, "topic": 0.7, "pairs": 0}  # from the specification, for a model without measurements
        text = json.dumps({"measured_by": "benchmarks/near_duplicates.py", "models": models}, indent=2)
        THRESHOLDS.write_text(text + "\n", encoding="utf-8")
        print(f"written to {THRESHOLDS}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
