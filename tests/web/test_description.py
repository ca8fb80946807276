"""Any request that the description of the API allows, and many that it does not: no 5xx."""

import pytest
from hypothesis import HealthCheck, given, settings

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_headers_conformance,
    status_code_conformance,
)

PATIENCE_SECONDS = 120
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
)


@pytest.fixture(scope="module")
def description(server):
    return schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json")


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_no_request_breaks_the_api_or_its_promises(description):
    operations = [result.ok() for result in description.get_all_operations()]
    assert len(operations) >= 8
    for operation in operations:
        try_requests(operation)


def try_requests(operation):
    """Send what the description of an operation allows, and check every answer."""
    is_slow = operation.path.endswith((".png", ".svg", ".pdf"))  # a figure takes seconds

    @settings(
        max_examples=2 if is_slow else 12,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def run(case):
        case.call_and_validate(checks=CHECKS, timeout=PATIENCE_SECONDS)

    run()
