"""From a patch and a manifest to a verdict: languages, submission, testing, verify."""
