#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests bench/papers with small inputs. The kernels must give the results that the host computes, and wrong kernels must be
# reported. The experiments must write tables and plots, and fail if a trend does not hold. best_swl must mark the best limit.
# `make nightly` runs the complete experiments.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
[ -x "$src/bench/papers/run" ] || exit 77 # the source archive does not contain bench/
export LANEWISE="$lanewise"
papers="$src/bench/papers"

cases=$((cases + 1))
"$papers/run" workloads --size .0625 >out 2>err || fail "bench/papers/run workloads: a kernel is wrong"
[ "$(grep -c '^ok ' out)" = 104 ] || fail "bench/papers/run workloads: expected 44 kernels and 60 forms"

# Copies the kernels and makes a mistake in each one. Every kernel must be reported as wrong.
mkdir wrong
cp -r "$src/bench/program.py" "$src/bench/trends.py" "$papers" wrong
sed -i 's/nearest\[t\] = found/nearest[t] = found ^ (t == 77)/; s/level\[w\] = level\[v\] + 1/level[w] = level[v] + 1 + (w == 99)/
    s/answer\[t\] = sum/answer[t] = sum + (t == 5)/; s/sum\[t\] = total/sum[t] = total + (t == 8)/; s/new\[v\] = least/new[v] = least + (v == 9)/
    s/a\[t\] + b\[t\]/a[t] - b[t]/; s/out\[t\] = total/out[t] = total + (t == 8)/; s/tile\[steps & 1\]\[y\]\[x\]/tile[steps \& 1][x][y]/; s/a\[at\] = tile\[y\]\[x\]/a[at] = tile[y][x] + (at == 3)/
    s/product\[0\]\[x\]/product[0][x ^ 1]/' wrong/papers/workloads.cl
sed -i 's/\(out\|found\|c\)\[\([a-z*+ ]*\)\] = \([^;]*\);/\1[\2] = (\3) + (get_global_id(0) == 6);/; s/force\[t\] = sum/force[t] = sum + (t == 6)/; s/state\[t\] = x/state[t] = x + (t \& 1)/
    s/out\[place\[at\]\] = key\[source\[at\]\]/out[place[at]] = key[source[at]] + (at == 6)/' wrong/papers/vws.cl
sed -i 's/y\[t\] = sum/y[t] = sum + (t == 4)/; s/y\[r\] = part/y[r] = (r == 4) + part/' wrong/papers/spmv.cu
sed -i 's/level\[w\] = current + 1/level[w] = current + 1 + (w == 9)/; s/d = from + weight\[e\]/d = from + weight[e] + (w == 9)/; s/colour\[v\] = round/colour[v] = round + (v == 9)/
    s/payload\[e\] \* 3 + i/payload[e] * 3 + i + 1/; s/thing\[row\[c\] + j\]\], 1/thing[row[c] + j]], 2/; s/& 0xff/\& 0x7f/; s/p\[2\] \* 1024/p[2] * 1023/
    s/count++/count += 2/; s/count = 1;/count = 2;/' wrong/papers/launches.cu
sed -i 's/^\( *\)\(out\|sum\|m\)\(\[.*\]\) = \(.*\);$/\1\2\3 = (\4) + 1;/' wrong/papers/locality.cl
cases=$((cases + 1))
wrong/papers/run workloads --size .0625 >out 2>err && fail "wrong kernels: exit status 0"
[ "$(grep -c '^FAIL' out)" = 104 ] || fail "a wrong kernel is not reported"

for what in ccws daws; do
    cases=$((cases + 1))
    "$papers/run" $what --quick --only kmn --cores 1 --size .0625 --out $what >out 2>err || fail "bench/papers/run $what: a trend does not hold"
    [ "$(wc -l <$what/$what.txt)" = 2 ] && [ "$(wc -l <$what/swl.txt)" = 2 ] || fail "bench/papers/run $what --out kept no tables"
    grep -q '^<svg .*' $what/$what.svg && grep -q '</svg>' $what/swl.svg || fail "bench/papers/run $what --out drew no plots"
    grep -q '^| .* | .* | [0-9.]* | 9.[12] |$' out || fail "bench/papers/run $what: no figure of the source"
done
cases=$((cases + 1))
"$papers/run" equalizer --quick --cores 1 --size .0625 --out equalizer >out 2>err || fail "bench/papers/run equalizer: a trend does not hold"
[ "$(wc -l <equalizer/equalizer.txt)" = 5 ] || fail "bench/papers/run equalizer --out kept no table"
"$papers/run" orf --quick --cores 1 --size .0625 --out orf >out 2>err || fail "bench/papers/run orf: a trend does not hold"
[ "$(wc -l <orf/orf.txt)" = 5 ] || fail "bench/papers/run orf --out kept no table"
"$papers/run" rows --quick --cores 1 --size .0625 --out rows >out 2>err || fail "bench/papers/run rows: a trend does not hold"
[ "$(wc -l <rows/rows.txt)" = 5 ] || fail "bench/papers/run rows --out kept no table"
"$papers/run" prf --quick --cores 1 --size .0625 --out prf >out 2>err || fail "bench/papers/run prf: a trend does not hold"
[ "$(wc -l <prf/prf.txt)" = 5 ] || fail "bench/papers/run prf --out kept no table"
"$papers/run" regless --quick --cores 1 --size .0625 --out regless >out 2>err || fail "bench/papers/run regless: a trend does not hold"
[ "$(wc -l <regless/regless.txt)" = 5 ] || fail "bench/papers/run regless --out kept no table"
"$papers/run" mrpb --quick --cores 1 --size .0625 --out mrpb >out 2>err || fail "bench/papers/run mrpb: a trend does not hold"
[ "$(wc -l <mrpb/mrpb.txt)" = 5 ] || fail "bench/papers/run mrpb --out kept no table"
"$papers/run" mascar --quick --cores 1 --size .0625 --out mascar >out 2>err || fail "bench/papers/run mascar: a trend does not hold"
[ "$(wc -l <mascar/mascar.txt)" = 5 ] || fail "bench/papers/run mascar --out kept no table"
"$papers/run" medic --quick --cores 1 --size .0625 --out medic >out 2>err || fail "bench/papers/run medic: a trend does not hold"
[ "$(wc -l <medic/medic.txt)" = 5 ] || fail "bench/papers/run medic --out kept no table"
"$papers/run" dynpcal --quick --cores 1 --size .0625 --out dynpcal >out 2>err || fail "bench/papers/run dynpcal: a trend does not hold"
[ "$(wc -l <dynpcal/dynpcal.txt)" = 5 ] || fail "bench/papers/run dynpcal --out kept no table"
"$papers/run" dws --quick --cores 1 --size .0625 --out dws >out 2>err || fail "bench/papers/run dws: a trend does not hold"
[ "$(wc -l <dws/dws.txt)" = 5 ] || fail "bench/papers/run dws --out kept no table"
"$papers/run" dwf --quick --size .25 --out dwf >out 2>err || fail "bench/papers/run dwf: a trend does not hold"
[ "$(wc -l <dwf/dwf.txt)" = 5 ] || fail "bench/papers/run dwf --out kept no table"
"$papers/run" lwm --quick --size .25 --out lwm >out 2>err || fail "bench/papers/run lwm: a trend does not hold"
[ "$(wc -l <lwm/lwm.txt)" = 5 ] || fail "bench/papers/run lwm --out kept no table"
"$papers/run" interweave --quick --size .25 --out interweave >out 2>err || fail "bench/papers/run interweave: a trend does not hold"
[ "$(wc -l <interweave/interweave.txt)" = 5 ] || fail "bench/papers/run interweave --out kept no table"
"$papers/run" tbc --quick --size .25 --out tbc >out 2>err || fail "bench/papers/run tbc: a trend does not hold"
[ "$(wc -l <tbc/tbc.txt)" = 5 ] || fail "bench/papers/run tbc --out kept no table"
"$papers/run" capri --quick --size .25 --out capri >out 2>err || fail "bench/papers/run capri: a trend does not hold"
[ "$(wc -l <capri/capri.txt)" = 5 ] || fail "bench/papers/run capri --out kept no table"
"$papers/run" permute --quick --size .25 --out permute >out 2>err || fail "bench/papers/run permute: a trend does not hold"
[ "$(wc -l <permute/permute.txt)" = 5 ] || fail "bench/papers/run permute --out kept no table"
"$papers/run" dwr --quick --only bkp,cp --cores 1 --size .125 --out dwr >out 2>err || fail "bench/papers/run dwr: a trend does not hold"
[ "$(wc -l <dwr/dwr.txt)" = 3 ] && grep -q '</svg>' dwr/dwr.svg || fail "bench/papers/run dwr --out kept no table or plot"
grep -q '^ok    dwr T1 same: ' out || fail "bench/papers/run dwr: large warps are not compared with wide ones"
cases=$((cases + 1))
"$papers/run" ccws_product --quick --only spmv_random --size .0625 --out product >out 2>err || fail "bench/papers/run ccws_product: exit status $?"
grep -q '^8 settings; SPMV: IPC of at least 2.45 with [0-8]; all kernels at least as fast as with gto (-2 %) with [0-8]$' out && [ "$(wc -l <product/ccws_product.txt)" = 9 ] ||
    fail "bench/papers/run ccws_product: a setting is missing"
"$papers/run" dwr_product --quick --only nnc --cores 1 --size .05 --out product >out 2>err || fail "bench/papers/run dwr_product: exit status $?"
grep -q '^9 settings; T4 holds with [0-9]; all: [0-9]$' out && [ "$(wc -l <product/dwr_product.txt)" = 10 ] ||
    fail "bench/papers/run dwr_product: a setting is missing"
"$papers/run" vws_product --quick --size .0625 --out product >out 2>err || fail "bench/papers/run vws_product: exit status $?"
grep -q '^4 settings; number of settings with each trend: T16: [0-4], ' out && [ "$(wc -l <product/vws_product.txt)" = 5 ] ||
    fail "bench/papers/run vws_product: a combination is missing"
cases=$((cases + 1))
"$papers/run" dtbl --quick --only bfs_roads,pre --size .125 --out dtbl >out 2>err
grep -q '^ok    TR-3: ' out && grep -q '^ok    TR-7 pre: ' out || fail "bench/papers/run dtbl: a trend does not hold"
[ "$(wc -l <dtbl/occupancy.txt)" = 3 ] && grep -q '</svg>' dtbl/dtbl.svg || fail "bench/papers/run dtbl --out kept no table or plot"
grep -q '^| speed of DTBL over that of CDP | 1.40 | [0-9.]* | 13.1 |$' out || fail "bench/papers/run dtbl: no figure of the source"
cases=$((cases + 1))
"$papers/run" laperm --quick --only join_gaussian --size .125 --out laperm >out 2>err
[ "$(wc -l <laperm/IPC_over_that_of_RR.txt)" = 2 ] && grep -q '</svg>' laperm/laperm.svg || fail "bench/papers/run laperm --out kept no table or plot"
grep -q 'TR-13: ' out || fail "bench/papers/run laperm: no trend"
"$papers/run" power --quick --only join_uniform --size .125 --out power >out 2>err
[ "$(wc -l <power/energy_saved.txt)" = 2 ] && grep -q '</svg>' power/power.svg || fail "bench/papers/run power --out kept no table or plot"
grep -q 'TR-14 power: ' out || fail "bench/papers/run power: no trend"
cases=$((cases + 1))
sed -i "s/'dwr.on=true'/'dwr.on=false'/" wrong/papers/dwr.py
wrong/papers/run dwr --quick --only bkp --cores 1 --size .125 >out 2>err &&
    fail "narrow warps instead of large ones: expected an error, but the exit status is 0"
grep -q '^FAIL  dwr T1 same' out || fail "bench/papers/run dwr: a trend that does not hold is not named"
cases=$((cases + 1))
"$papers/run" locality --quick --only rows4,nn --size .5 --out locality >out 2>err || fail "bench/papers/run locality: a trend does not hold"
[ "$(wc -l <locality/locality.txt)" = 3 ] && grep -q '</svg>' locality/locality.svg || fail "bench/papers/run locality --out kept no table or plot"
[ "$(grep -c '^ok    loc R[258]' out)" = 3 ] || fail "bench/papers/run locality: a trend is missing"
cases=$((cases + 1))
cp "$papers/locality.cl" wrong/papers
sed -i "s/LA_B = .*/LA_B = []/" wrong/papers/locality.py
wrong/papers/run locality --quick --only rows4 --size .3 >out 2>err &&
    fail "rr instead of la_b: expected an error, but the exit status is 0"
grep -q '^FAIL  loc R2' out || fail "bench/papers/run locality: a trend that does not hold is not named"
cases=$((cases + 1))
"$papers/run" vws --quick --only radix --out vws >out 2>err || fail "bench/papers/run vws: exit status $?"
grep -q '^off   T18 radix' out || fail "bench/papers/run vws: a trend that is known not to hold is not named"
grep -q '^ok    T14 radix' out && grep -q '^ok    T15 radix' out || fail "bench/papers/run vws: a trend does not hold"
[ "$(wc -l <vws/vws.txt)" = 2 ] && grep -q '</svg>' vws/vws.svg || fail "bench/papers/run vws --out kept no table or plot"
cases=$((cases + 1))
cp "$papers/vws.cl" wrong/papers
sed -i "s/'vws.mode=slice'/'vws.mode=gang'/" wrong/papers/vws.py
wrong/papers/run vws --quick --only radix >out 2>err &&
    fail "gangs instead of warps of four: expected an error, but the exit status is 0"
grep -q '^FAIL  T14 radix' out || fail "a trend of vws that does not hold is not named"

cases=$((cases + 1))
sed -i "s/'lrr': \['issue.policy=lrr'\]/'lrr': []/" wrong/papers/experiment.py
cp "$papers/workloads.cl" wrong/papers
wrong/papers/run ccws --quick --only kmn --cores 1 --size .0625 >out 2>err &&
    fail "gto instead of lrr: expected an error, but the exit status is 0"
grep -q '^FAIL  T1 lrr' out || fail "a trend that does not hold is not named"

cases=$((cases + 1))
"$papers/best_swl" --set core.count=4 --set l2.slices=1 --set dram.channels=1 --limits 1,4,0 "$src/docs/examples/lines.yaml" >out 2>err ||
    fail "best_swl ends with exit status $?"
[ "$(grep -c . out)" = 4 ] && [ "$(grep -c ' best$' out)" = 1 ] && [ "$(sort -n -k 2 out | sed -n 's/ *best$/ best/; 2p' | grep -c best)" = 1 ] ||
    fail "best_swl does not mark the limit with the fewest cycles"
echo "test_papers: $cases commands"
[ $failures = 0 ]
