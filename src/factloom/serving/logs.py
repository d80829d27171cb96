"""Logs as JSON lines: one object a line, on standard error; no text of a document stands there."""

import json
import logging
import sys
from datetime import UTC, datetime

LOGGER = logging.getLogger("factloom.serving")
_OURS = "said"  # the attribute of a record with what is told beside its message


class JsonLines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, _OURS, {}),
        }
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told)


def log(event: str, **said: object) -> None:
    """Tell that something happened."""
    LOGGER.info(event, extra={_OURS: said})


def log_failure(event: str, **said: object) -> None:
    """Tell that something failed, with the trace of the error that is being handled."""
    LOGGER.error(event, extra={_OURS: said}, exc_info=True)


def log_as_json_lines() -> None:
    """Let everything that is logged, by others too, be JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    LOGGER.setLevel(logging.INFO)
    logging.captureWarnings(True)
