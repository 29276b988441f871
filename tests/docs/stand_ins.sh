#!/bin/sh
# stand_ins.sh PAGE: makes, in this folder, the files that a page of the documentation uses and does
# not make: small data in the place of the reader's own. `mercer` is on the PATH.
set -eu

# rows FILE SHARE: that share of the digits, 64 columns and ten classes.
rows() { mercer split @digits rest-tmp.csv "$1" --test "$2" --seed "${3:-1}" >/dev/null; rm rest-tmp.csv; }
# without_labels FROM TO: all columns but the last.
without_labels() { sed 's/,[^,]*$//' "$1" >"$2"; }
# two_classes FROM TO: the digits 0 and 1.
two_classes() { awk -F, 'NR == 1 || $NF == "0" || $NF == "1"' "$1" >"$2"; }
# picture FILE HEIGHT WIDTH SEED: stripes and a disc, in colour.
picture() {
    awk -v h="$2" -v w="$3" -v s="$4" 'BEGIN {
        print "P3", w, h, 255
        for (i = 0; i < h; ++i) for (j = 0; j < w; ++j) {
            a = 128 + 90 * sin((i + s) / 5) * cos(j / (3 + s))
            d = (i - h / 2) ^ 2 + (j - w / 2) ^ 2 < (h / 4) ^ 2 ? 60 : 0
            printf "%d %d %d\n", a, (a + d) % 256, (200 - a / 2 + d) % 256
        }
    }' >"$1"
}
# columns FILE ROWS SEED: four numbers a row, the last two following the first two.
columns() {
    awk -v n="$2" -v s="$3" 'BEGIN {
        srand(s)
        for (i = 0; i < n; ++i) {
            a = rand() * 4 - 2; b = rand() * 4 - 2
            printf "%.4f,%.4f,%.4f,%.4f\n", a, b, sin(a) + 0.1 * rand(), a * b + 0.1 * rand()
        }
    }' >"$1"
}

# sequences FILE ROWS SEED: letters of DNA, every other row with TATAT at place 8.
sequences() {
    awk -v n="$2" -v s="$3" 'BEGIN {
        srand(s)
        for (i = 0; i < n; ++i) {
            t = ""
            for (k = 0; k < 30; ++k) t = t substr("ACGT", 1 + int(4 * rand()), 1)
            if (i % 2) t = substr(t, 1, 8) "TATAT" substr(t, 14)
            printf "> %d label=%d\n%s\n", i, i % 2 ? 1 : -1, t
        }
    }' >"$1"
}
# series FILE ROWS: slow and fast waves of several lengths, as sktime writes them.
series() {
    awk -v n="$2" 'BEGIN {
        print "@problemName waves\n@timeStamps false\n@univariate true\n@classLabel true slow fast\n@data"
        for (i = 0; i < n; ++i) {
            for (t = 0; t < 10 + i % 5; ++t) printf "%s%.3f", t ? "," : "", sin(t / (i % 2 ? 1 : 4))
            print i % 2 ? ":fast" : ":slow"
        }
    }' >"$1"
}
# customers FILE ROWS SEED: names, numbers with decimal commas and gaps, categories, dates, answers.
customers() {
    awk -v n="$2" -v s="$3" 'BEGIN {
        srand(s)
        split("Rome Oslo Bonn", city, " ")
        print "customer;age;city;joined;member;churn"
        for (i = 0; i < n; ++i) {
            age = 18 + int(60 * rand()); c = 1 + int(3 * rand()); m = rand() < 0.5
            left = (age > 45) != (c == 1) ? 1 : m && age > 30 && rand() < 0.3
            printf "c%d%04d;%s;%s;%d.%02d.2026;%s;%s\n", s, i, rand() < 0.08 ? "" : age ",5", city[c],
                1 + int(28 * rand()), 1 + int(12 * rand()), m ? "yes" : "no", left ? "left" : "stayed"
        }
    }' >"$1"
}
# molecules FOLDER GRAPHS: paths and rings of labelled nodes.
molecules() {
    mkdir "$1"
    awk -v f="$1/M" -v n="$2" 'BEGIN {
        first = 1
        for (g = 1; g <= n; ++g) {
            size = 5 + g % 4
            for (v = 0; v < size; ++v) {
                print g >(f "_graph_indicator.txt")
                print v % 3 >(f "_node_labels.txt")
                if (v > 0) print first + v - 1 ", " first + v >(f "_A.txt")
            }
            if (g % 2) print first ", " first + size - 1 >(f "_A.txt")
            print g % 2 ? 1 : -1 >(f "_graph_labels.txt")
            first += size
        }
    }'
}

case $1 in
    structures)
        sequences sites.fasta 60 1
        sequences more.fasta 10 2
        molecules molecules 40
        series waves.ts 24
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            printf 'a%d a%d\nb%d b%d\n' $i $((i + 1)) $i $((i + 1))
            printf 'a%d a%d 0.5\nb%d b%d 0.5\n' $i $((i % 4)) $i $((i % 4))
        done >club.edges
        sed '' club.edges >scores.edges
        printf 'a1 b1 0.1\na3: red\na9: red\nb2: blue\nb11: blue\n' >>club.edges
        printf 'a1 b1\na3: 1\na9: 1.5\nb2: -1\nb11: -2\na5: 1.2\n' >>scores.edges
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
            printf 'ham\tsee you at %d for lunch\nspam\twin a free prize now, call %d\n' $i $i
        done >mail.tsv
        printf 'amount,hour,remark,class\n' >orders.csv
        for i in 1 2 3 4 5 6 7 8 9; do
            printf '%d,%d,"late, and broken %d",bad\n%d,%d,all fine,good\n' $i $((i + 9)) $i $i $i
        done >>orders.csv
        ;;
    README)
        printf 'a,b,class\n1,10,x\n2,50,y\n4,20,x\n3,90,y\n' >train.csv
        cp train.csv test.csv
        customers customers.csv 240 1
        ;;
    bounds | tuning) mercer make moons --n 120 --noise 0.3 -o heart.csv ;;
    probabilities)
        mercer make moons --n 300 --noise 0.3 --seed 1 -o data.csv
        mercer make moons --n 100 --noise 0.3 --seed 2 -o test.csv
        ;;
    libsvm)
        mercer make moons --n 100 --seed 1 --to libsvm -o train
        mercer make moons --n 50 --seed 2 --to libsvm -o test
        ;;
    cascades)
        rows tmp.csv 0.6
        two_classes tmp.csv train.csv
        rows tmp.csv 0.3 2
        two_classes tmp.csv test.csv
        without_labels test.csv patches.csv
        mercer train train.csv faces.mercer -C 10 >/dev/null
        picture group.png 24 24 2
        ;;
    cca)
        columns tmp.csv 120 1
        cut -d, -f1,2 tmp.csv >x.csv
        cut -d, -f3,4 tmp.csv >y.csv
        columns tmp.csv 60 2
        cut -d, -f1,2 tmp.csv >x-new.csv
        cut -d, -f3,4 tmp.csv >y-new.csv
        ;;
    class-means | regions)
        columns ordinary.csv 80 1
        columns new.csv 20 2
        ;;
    multi-label)
        for name in train test; do
            columns tmp.csv 80 ${#name}
            awk -F, 'BEGIN { print "a,b,left,low,near" }
                { print $1 "," $2 "," ($1 < 0) "," ($2 < 0) "," ($1 * $1 + $2 * $2 < 2) }' tmp.csv >$name.csv
        done
        cut -d, -f1,2 test.csv >new.csv
        ;;
    dependency)
        rows tmp.csv 0.2
        cut -d, -f1-32 tmp.csv >upper.csv
        cut -d, -f33-64 tmp.csv >lower.csv
        rows tmp.csv 0.05 2
        cut -d, -f1-32 tmp.csv >new-upper.csv
        cut -d, -f33-64 tmp.csv >some.csv
        ;;
    ica)
        awk 'BEGIN { srand(3); for (i = 0; i < 300; ++i) {
            a = rand() - 0.5; b = (rand() < 0.5 ? -1 : 1) * rand() ^ 4
            printf "%.5f,%.5f\n", a + 0.5 * b, 0.3 * a - b } }' >mixtures.csv
        printf '1,0.5\n0.3,-1\n' >mixing.csv
        head -20 mixtures.csv >more.csv
        awk 'BEGIN { for (t = 0; t < 600; ++t) {
            a = sin(0.0459 * t); b = sin(0.12 * t)
            printf "%.5f,%.5f\n", a + 0.5 * b, 0.3 * a - b >"waves.csv"
            printf "%.5f,%.5f\n", exp(a) - exp(b), exp(-a) + exp(-b) >"bent.csv" } }'
        head -20 bent.csv >more-bent.csv
        ;;
    invariances)
        rows some.csv 0.1
        mercer convert some.csv -o train-images-idx3-ubyte.gz
        rows train.csv 0.1
        rows test.csv 0.05 2
        ;;
    kernel-hebbian) rows tmp.csv 0.05 && without_labels tmp.csv noisy.csv ;;
    kernel-pca | maps | reduced-sets)
        rows train.csv 0.2
        rows test.csv 0.1 2
        cp test.csv all.csv
        mercer train train.csv digits.mercer -C 10 >/dev/null
        ;;
    pre-images)
        rows clean.csv 0.1
        rows noisy.csv 0.02 2
        mercer train clean.csv pca.mercer --task kpca --components 32 >/dev/null
        picture noisy.png 24 24 1
        ;;
    000) printf '1.3\n0.9\n' >points.csv ;;
    002)
        printf '0,0\n1,1\n2,0\n0,2\n' >four.csv
        printf '0,-1\n2,1\n5,1\n' >three.csv
        ;;
    004)
        printf '1,-1\n-1,2\n' >xy.csv
        printf '0.35355339059327379,-1\n-0.35355339059327379,1\n' >dual.csv
        ;;
    super-resolution)
        for name in small.png photo.png other.png a.png b.ppm c.ppm; do
            picture $name 32 32 ${#name}
        done
        ;;
    vector-quantisation)
        picture photo.png 184 184 1
        mercer make blobs --n 120 -o rows.csv
        mercer make blobs --n 20 -o more.csv
        ;;
    tables)
        customers customers.csv 240 1
        customers new.csv 60 2
        ;;
esac
rm -f tmp.csv
