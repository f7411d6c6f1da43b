# SPDX-License-Identifier: Apache-2.0
"""report_forms.py FILE...: checks that .sarif and .xml files have the right format. Prints a line for each violation; the exit
status is then 1.

For SARIF the table FORMS contains the requirements of the standard (OASIS SARIF 2.1.0, section 3) for the objects that
Lanewise writes. A property that is not in the table is an error, too. JUnit has no standard: tests/check/junit.xsd
defines its format, and this program checks what a schema cannot express.
"""
import json
import re
import sys
import xml.etree.ElementTree as tree

TEXT = {"type": str}
# Maps an object to (its properties, its required properties, sets of properties at least one of which is required)
FORMS = {
    "sarifLog": ({"$schema": {"type": str, "uri": True}, "version": {"type": str, "one_of": ["2.1.0"]},
                  "runs": {"type": list, "of": "run"}}, ["version", "runs"], []),
    "run": ({"tool": {"type": dict, "of": "tool"}, "results": {"type": list, "of": "result"},
             "invocations": {"type": list, "of": "invocation"},
             "automationDetails": {"type": dict, "of": "runAutomationDetails"},
             "originalUriBaseIds": {"type": dict, "of": "uriBaseIds"}}, ["tool"], []),
    "runAutomationDetails": ({"id": TEXT}, [], []),
    "uriBaseIds": ({"%SRCROOT%": {"type": dict, "of": "artifactLocation"}}, [], []),
    "invocation": ({"executionSuccessful": {"type": bool}, "exitSignalName": {"type": str}, "exitSignalNumber": {"type": int},
                    "toolExecutionNotifications": {"type": list, "of": "notification"}}, ["executionSuccessful"], []),
    "notification": ({"level": {"type": str, "one_of": ["none", "note", "warning", "error"]},
                      "message": {"type": dict, "of": "message"},
                      "locations": {"type": list, "of": "location", "unique": True}}, ["message"], []),
    "tool": ({"driver": {"type": dict, "of": "toolComponent"}}, ["driver"], []),
    "toolComponent": ({"name": TEXT, "version": TEXT,
                       "rules": {"type": list, "of": "reportingDescriptor", "unique": True}}, ["name"], []),
    "reportingDescriptor": ({"id": TEXT, "deprecatedIds": {"type": list, "of": TEXT, "unique": True}, "shortDescription": {"type": dict, "of": "multiformatMessageString"},
                             "help": {"type": dict, "of": "multiformatMessageString"}}, ["id"], []),
    "multiformatMessageString": ({"text": TEXT}, ["text"], []),
    "message": ({"text": TEXT}, [], [["text", "id"]]),
    "result": ({"ruleId": TEXT, "ruleIndex": {"type": int, "least": -1},
                "level": {"type": str, "one_of": ["none", "note", "warning", "error"]},
                "message": {"type": dict, "of": "message"}, "locations": {"type": list, "of": "location"},
                "relatedLocations": {"type": list, "of": "location", "unique": True},
                "suppressions": {"type": list, "of": "suppression", "unique": True},
                "occurrenceCount": {"type": int, "least": 1}}, ["message"], []),
    "location": ({"physicalLocation": {"type": dict, "of": "physicalLocation"},
                  "message": {"type": dict, "of": "message"}}, [], []),
    "physicalLocation": ({"artifactLocation": {"type": dict, "of": "artifactLocation"},
                          "region": {"type": dict, "of": "region"}}, [], [["artifactLocation", "address"]]),
    "artifactLocation": ({"uri": {"type": str, "uri": True}, "uriBaseId": {"type": str}}, [], []),
    "region": ({"startLine": {"type": int, "least": 1}}, [], []),
    "suppression": ({"kind": {"type": str, "one_of": ["inSource", "external"]}}, ["kind"], []),
}
# RFC 3986, 4.1: a URI reference has a scheme, or no colon in its first segment. Characters that a URI must not contain are
# escaped.
URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?!:)(?:[A-Za-z0-9._~!$&'()*+,;=@/?-]|%[0-9A-F]{2}|(?<=/):)*"
                 r"(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*)?\Z")


def look_value(value, rule, at, wrong):
    if type(value) is not rule["type"]:
        wrong.append(f"{at}: {type(value).__name__}, not {rule['type'].__name__}")
        return
    if "one_of" in rule and value not in rule["one_of"]:
        wrong.append(f"{at}: '{value}' is not one of {rule['one_of']}")
    if "least" in rule and value < rule["least"]:
        wrong.append(f"{at}: {value} is less than {rule['least']}")
    if "uri" in rule and not URI.match(value):
        wrong.append(f"{at}: '{value}' is not a URI reference")
    if rule["type"] is dict:
        look(value, rule["of"], at, wrong)
    if rule["type"] is list:
        for i, v in enumerate(value):
            (look_value if isinstance(rule["of"], dict) else look)(v, rule["of"], f"{at}[{i}]", wrong)
        if rule.get("unique") and len({json.dumps(v, sort_keys=True) for v in value}) != len(value):
            wrong.append(f"{at}: two items are equal")


def look(value, form, at, wrong):
    properties, needed, one_of = FORMS[form]
    if not isinstance(value, dict):
        wrong.append(f"{at}: {type(value).__name__}, not a {form}")
        return
    for name in needed:
        if name not in value:
            wrong.append(f"{at}: a {form} without {name}")
    for names in one_of:
        if not any(n in value for n in names):
            wrong.append(f"{at}: a {form} without any of {names}")
    for name, v in value.items():
        if name not in properties:
            wrong.append(f"{at}: a {form} must not have {name}")
        else:
            look_value(v, properties[name], f"{at}.{name}", wrong)


def no_twins(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"two of these names are equal: {[k for k, _ in pairs]}")
    return dict(pairs)


def sarif(path):
    wrong = []
    with open(path, encoding="utf-8") as f:
        log = json.load(f, object_pairs_hook=no_twins)
    look(log, "sarifLog", "log", wrong)
    for run in log.get("runs", []) if not wrong else []:
        ids = [r["id"] for r in run["tool"]["driver"]["rules"]]
        if len(set(ids)) != len(ids):
            wrong.append("rules: two rules have the same id")
        for i, r in enumerate(run.get("results", [])):  # SARIF 3.27.6: if both properties are present, they must agree
            if not 0 <= r["ruleIndex"] < len(ids) or ids[r["ruleIndex"]] != r["ruleId"]:
                wrong.append(f"results[{i}]: rule {r['ruleIndex']} is not {r['ruleId']}")
    return wrong


def junit(path):
    wrong = []
    for suite in tree.parse(path).getroot().iter("testsuite"):
        cases = suite.findall("testcase")
        for name, count in (("tests", len(cases)), ("failures", len(suite.findall("testcase/failure"))),
                            ("errors", len(suite.findall("testcase/error"))),
                            ("skipped", len(suite.findall("testcase/skipped")))):
            if suite.get(name) != str(count):
                wrong.append(f"{name} is {suite.get(name)}, but there are {count}")
        for c in cases:
            if len(c) > 1:
                wrong.append(f"{c.get('name')}: {len(c)} results")
    return wrong


def main():
    bad = False
    for path in sys.argv[1:]:
        try:
            wrong = sarif(path) if path.endswith(".sarif") else junit(path)
        except (ValueError, tree.ParseError) as error:
            wrong = [str(error)]
        for line in wrong:
            print(f"{path}: {line}")
        bad = bad or bool(wrong)
    return bad


sys.exit(main())
