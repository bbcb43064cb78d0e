"""`edge-tts doctor`: examine this installation."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, List

from edge_tts import __version__
from edge_tts.errors import EXIT_OK

if TYPE_CHECKING:
    from edge_tts.findings import Finding

EXIT_UNHEALTHY = 1


def add_parser(subparsers: Any) -> None:
    """Add `doctor` to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        help="check this installation and say how to repair it",
        description="Check this installation and say how to repair it. Exits 1 on a failure.",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the findings; the exit code says whether speaking should work."""
    from edge_tts.doctor import examine
    from edge_tts.findings import Status

    findings = examine(args.config)
    is_healthy = all(finding.status is not Status.FAILURE for finding in findings)
    print(_json(findings, is_healthy) if args.json else _table(findings))
    return EXIT_OK if is_healthy else EXIT_UNHEALTHY


def _json(findings: "List[Finding]", is_healthy: bool) -> str:
    records = [{**asdict(finding), "status": finding.status.value} for finding in findings]
    report = {"version": __version__, "healthy": is_healthy, "findings": records}
    return json.dumps(report, ensure_ascii=False, indent=2)


def _table(findings: "List[Finding]") -> str:
    lines = []
    for finding in findings:
        lines.append(f"{finding.status.value:<8} {finding.subject:<14} {finding.detail}")
        if finding.remedy:
            lines.append(f"{'':<23} → {finding.remedy}")
    return "\n".join(lines)
