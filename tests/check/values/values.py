# SPDX-License-Identifier: Apache-2.0
"""values.py LANEWISE SEED COUNT [COMPILE-OPTION...]: tests the values of variables in findings with COUNT random kernels.

Each kernel computes variables from the thread's number and a loop's counter, passes some of them to an inlined function, and
accesses memory out of bounds. The address of a finding gives the counter. So the values of all variables are known, and each
value in a finding must be the known one, and the one that the debugger prints at the finding. Prints the number of findings and
values. The exit status is 1 if a value differs.
"""
import json
import random
import re
import subprocess
import sys

lanewise, seed, count, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
ELEMENTS = 40  # elements of `in`


def wrap(value):
    """Returns a value as a C int has it."""
    return (value + 2**31) % 2**32 - 2**31


def make(rng):
    """Returns the text of a random kernel, and a function that computes all variables from gid and i."""
    step, rounds, every = rng.choice([3, 17, 40]), rng.choice([1, 2, 7]), rng.choice([1, 2, 5])
    rows, names = [], ["gid", "i"]
    for k in range(rng.randint(1, 4)):
        a, b = rng.choice(names), rng.choice(names)
        text = rng.choice([f"{a} * {rng.randint(2, 9)} + {rng.randint(1, 99)}", f"{a} ^ {rng.randint(1, 255)}", f"{a} - {b}",
                           f"{a} + n"])
        names.append(f"v{k}")
        rows.append((f"v{k}", text))
    store = rng.random() < 0.3

    def values(gid, i):
        known = {"gid": gid, "i": i, "n": ELEMENTS, "at": wrap(gid + i * step), "from": gid, "count": i}
        for name, text in rows:
            known[name] = wrap(eval(text, {}, dict(known)))
        known["part"] = known[rows[-1][0]] * 0.5
        known["small"] = (gid + 200 + 128) % 256 - 128
        known["which"] = "ODD" if gid & 1 else "EVEN"
        return known

    text = f"""enum parity {{ EVEN, ODD }};
static inline int access(__global int *data, int from, int count)
{{
    int at = from + count * {step};
    {"data[at] = count; return from;" if store else "return data[at];"}
}}
__kernel void k(__global int *out, __global int *in, int n)
{{
    int gid = get_global_id(0);
    int sum = 0;
    if (gid % {every} != {every - 1})
        return;
    for (int i = 0; i < {rounds} + n / 50; i++) {{
{"".join(f"        int {name} = {expression};{chr(10)}" for name, expression in rows)}        float part = {rows[-1][0]} * 0.5f;
        char small = (char)(gid + 200);
        enum parity which = gid & 1 ? ODD : EVEN;
        sum += access(in, gid, i);
        sum += {" + ".join(name for name, _ in rows)} + (int)part + small + which;
        out[gid] = sum;
    }}
}}
"""
    return text, values, step


def run(command, sent=None):
    return subprocess.run(command, input=sent, capture_output=True, text=True, timeout=120)


def value_of(text):
    return text if re.match("[A-Za-z]", text) else float(text.split(" '")[0])


findings = shown = wrong = 0
for number in range(count):
    rng = random.Random(seed + number)
    text, values, step = make(rng)
    width, blocks = rng.choice([8, 32, 64]), rng.choice([1, 3])
    with open("random.cl", "w") as out:
        out.write(text)
    built = run([lanewise, "compile", *options, "-o", "random.lwo", "random.cl"])
    if built.returncode != 0:
        sys.exit(f"seed {seed + number}: {built.stderr}")
    launch = ["random.lwo", "--warp", str(width), "--grid", str(blocks), "--block", "64", "--arg", f"out=s32[{64 * blocks}]",
              "--arg", f"in=s32[{ELEMENTS}]:ramp", "--arg", str(ELEMENTS), "--check=memory"]
    run([lanewise, "run", "-q", *launch, "--check-file", "random.json"])
    with open("random.json") as report:
        found = json.load(report)["findings"]
    first = run([lanewise, "debug", *launch], "continue\n" * (len(found) + 1)).stdout
    order = re.findall(r"^finding \d+: .* pc (0x[0-9a-f]+)", first, re.M)
    by_pc = {f["place"]["pc"]: f for f in found}
    commands = ""
    for pc in order:
        f = by_pc[pc]
        commands += f"continue\nlane {f['variables']['lane']}\n" if "variables" in f else "continue\n"
        for v in f.get("variables", {"values": []})["values"]:
            commands += f"print {v['name']}\n" + f"up\nprint {v['name']}\n" * 2 + "down\ndown\n"
    said = run([lanewise, "debug", *launch], commands).stdout
    for pc in order:
        f = by_pc[pc]
        place = f["place"]
        findings += 1
        if "variables" not in f:
            print(f"seed {seed + number}: a finding has no values", file=sys.stderr)
            wrong += 1
            continue
        lane = f["variables"]["lane"]
        base = int(re.search(r" (?:past the end of|before) 'in' \(\d+ bytes at (0x[0-9a-f]+)\)", f["message"]).group(1), 16)
        gid = place["block"][0] * 64 + place["warp"] * width + lane
        i = ((int(f["address"], 16) - base) // 4 - gid) // step
        known = values(gid, i)
        if lane != place["lanes"][0]:
            print(f"seed {seed + number}: lane {lane} is not the first of {place['lanes']}", file=sys.stderr)
            wrong += 1
        for v in f["variables"]["values"]:
            shown += 1
            if v["name"] in known and value_of(v["value"]) != known[v["name"]]:
                print(f"seed {seed + number}: {v['name']} = {v['value']}, not {known[v['name']]}", file=sys.stderr)
                wrong += 1
            if f"{v['name']} = {v['value']}\n" not in said:
                print(f"seed {seed + number}: the debugger does not show {v['name']} = {v['value']}", file=sys.stderr)
                wrong += 1
print(f"{findings} findings, {shown} values, {wrong} wrong")
sys.exit(wrong != 0)
