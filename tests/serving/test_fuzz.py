"""Schemathesis writes requests by the server's own description: whatever comes, it answers as it says it does."""

import pytest
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, checks

KEPT = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["proper", "improper"])
@pytest.mark.parametrize("path", ["/predict", "/embed", "/explain"])
def test_every_request_is_answered_as_described(description, client, path, mode):
    operation = description[path]["POST"]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    def answered(case):
        case.call_and_validate(session=client, checks=KEPT)

    answered()
