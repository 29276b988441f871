// An option that would have no effect in a call is refused, in every command and every mode; a slip
// of the pen gets a suggestion.
#include <gtest/gtest.h>

#include <filesystem>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

Words split(const std::string& text) {
    std::istringstream stream(text);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// The options that a command's help lists, the general ones left out, each with a value that the
/// parser takes.
std::map<std::string, Words> options_of(const std::string& command) {
    static const std::set<std::string> general{"--threads", "--memory-limit", "--json", "--quiet",
                                               "--help"};
    static const std::map<std::string, std::string> values{
        {"N", "2"},         {"X", "0.5"},      {"EXPR", "linear"},     {"RULE", "standard"},
        {"FILE", "o.csv"},  {"TEXT", "1"},     {"AXIS", "C=1,2"},      {"HxW", "8x8"},
        {"CLASS=W", "a=2"}, {"CLASS", "a"},    {"LIST", "shift(1)"},   {"F", "clip"},
        {"FORMULA", "x0"},  {"X,X", "1,2"},    {"X,X,…", "1,2"},       {"N,…", "1,2"},
        {"N,N", "1,2"},     {"X Y", "x.csv"},  {"S", "0.5"},           {"R", "0.5"},
        {"FILE…", "o.csv"}, {"MODEL", "m"},    {"NAME,NAME", "gamma"}, {"A,B", "1,2"},
        {"FOLDER", "."},    {"NAME", "digits"}};
    std::map<std::string, Words> options;
    std::istringstream help(run({command, "--help"}).out);
    for (std::string line; std::getline(help, line);) {
        if (!line.starts_with("  -")) continue;
        const Words words = split(line);
        // "-C,--cost X  …": the longest spelling, and the kind of its value.
        const std::string name = words[0].substr(words[0].rfind(',') + 1);
        if (general.contains(name)) continue;
        Words& value = options[name];
        const std::string kind = words.size() > 1 ? words[1] : "";
        if (kind == "WORD") {
            const std::size_t open = line.rfind('[');
            value = {open == std::string::npos
                         ? "best"
                         : line.substr(open + 1, line.find_first_of(";]", open) - open - 1)};
        } else if (values.contains(kind)) {
            value = {name == "--first-index" ? "1" : values.at(kind)};
            if (has(line, " X Y ")) value.push_back("y.csv");
        }
    }
    return options;
}

const std::string of_sheets = "--width --across --bright ";
const std::string reading =
    "--format --label --text-labels --header --missing --rows --columns --labels --weights "
    "--weight-column --text-columns --leave-out --first-index ";
const std::string writing = "--to --write-header --labels-to --weights-to ";
const std::string other_machines =
    "--passes --order --variant --budget --rate --clusters --radius --no-prune --starts "
    "--components "
    "--dictionary --batch --no-center --lambda --lambda-path --loo --noise --optimise --restarts "
    "--delta --quantile --shares --neighbours --neighbours-path --vote --average --loss "
    "--loss-slope "
    "--regulariser ";
const std::string of_training = "--train --kernel --scale --memory ";
const std::string of_learning =
    "--save-model --factor --patch --sample --components --dictionary --passes --rounds --detail "
    "--learn "
    "--kernel --seed ";
const std::string numbers =
    "--examples --error --epsilon --functions --dimension --features --radius --norm "
    "--support ";
const std::string folded =
    "--grid --folds --repeats --folding --groups --fold-file --score --positive --one-se --alone "
    "--journal "
    "--csv --heat-map --points --seed ";
/// What `bounds --data` takes and no other call of it.
const std::string of_capacity = "--kernel --scale --sizes --draws --no-bias --seed ";
const std::string of_models = "--no-loo --widen --memory --double ";
/// What an svc takes of the machines' options, and does not.
const std::string not_svc = "--nu --epsilon --tube --trace --fix --target-scale " +
                            other_machines;  // and --curve, which tune hides

/// The same of 'plan', which hides what nothing is kept of.
const std::string plan_of_svc = [] {
    std::string words;
    for (const std::string& word : split(not_svc)) {
        if (word != "--trace" && word != "--loo") words += word + " ";
    }
    return words;
}();

const std::string of_checkpoints = "--checkpoint --resume --checkpoint-every ";

struct Mode {
    std::string call;     ///< of files that are not there: what is refused is refused before
    std::string refused;  ///< the options without effect in it
};

const std::vector<Mode> modes{
    {"info a.csv", ""},
    {"info a.csv --json", "--by-column"},
    {"convert a.csv", ""},
    {"scale a.csv --scale standard", ""},
    {"make moons --n 2", "--classes --columns --turns --cells"},
    {"make blobs --n 4", "--turns --cells"},
    {"make spirals --n 2", "--classes --columns --cells"},
    {"make checkerboard --n 2", "--classes --columns --turns"},
    {"split a.csv b.csv c.csv", ""},
    {"virtual a.csv --with shift(1)", ""},
    {"tangent a.csv --with shift(1)", "--landmarks --components --seed"},
    {"tangent a.csv --with shift(1) --kernel linear", ""},
    {"kernel --list",
     "--data --features --sample --seed --unit-norm --non-negative --double " + reading},
    {"kernel linear", "--list --sample --seed --double " + reading},
    {"kernel linear --data a.csv", "--list --features"},
    {"gram linear a.csv", ""},
    {"gram linear a.csv --against b.csv", "--function"},
    {"gram linear a.csv --precomputed", writing},
    {"map a.csv --kind monomial", "--kernel --sample --landmarks --components --seed"},
    {"map a.csv --kind plain", "--kernel --sample --landmarks --components --seed --gamma"},
    {"map a.csv --kind exponential", "--kernel --sample --landmarks --components --seed --coef0"},
    {"map a.csv --kind empirical", "--components --seed --degree --gamma --coef0"},
    {"map a.csv --landmarks 3", "--degree --gamma --coef0"},
    {"align a.csv --kernel linear", "--cost --tol --as-given"},
    {"align a.csv --kernel linear --combine alignment", "--cost"},
    {"align a.csv --kernel linear --combine margin", ""},
    {"train a.csv", not_svc + of_checkpoints + "--spool --curve --seed"},
    {"train a.csv --cv 3", not_svc + of_checkpoints + "--spool --curve --from --probability"},
    {"train a.csv --approximate nystroem", not_svc + "--curve --from --resume --checkpoint-every"},
    {"train a.csv --approximate nystroem --checkpoint c", not_svc + "--curve --from --cv"},
    {"train a.csv m --task ridge",
     "--cost --nu --epsilon --tube --weight --balanced --multi-class --probability --passes "
     "--order --variant --budget --rate --curve --clusters --radius --no-prune --starts "
     "--components "
     "--dictionary --batch --no-center --noise --optimise --restarts --fix --delta --quantile "
     "--shares --tol "
     "--gap --step-limit --method --trace --no-shrinking --from --seed --neighbours "
     "--neighbours-path --vote --average --loss --loss-slope --regulariser --spool " +
         of_checkpoints},
    {"train a.csv --task ridge --lambda-path 1,2 --cv 3",
     "--cost --nu --epsilon --tube --weight --balanced --multi-class --probability --passes "
     "--order --variant --budget --rate --curve --clusters --radius --no-prune --starts "
     "--components "
     "--dictionary --batch --no-center --noise --optimise --restarts --fix --delta --quantile "
     "--shares --tol "
     "--gap --step-limit --method --trace --no-shrinking --from --lambda --loo --neighbours "
     "--neighbours-path --vote --average --loss --loss-slope --regulariser --spool " +
         of_checkpoints},
    {"plan a.csv", plan_of_svc},
    {"tune a.csv --grid C=1,2", not_svc + "--from --points --positive"},
    {"tune a.csv --grid C=1,2 --search halving --groups g.txt",
     not_svc + "--from --folding --fold-file --heat-map --positive"},
    {"tune a.csv --grid C=1,2 --fold-file f.txt",
     not_svc + "--from --points --folding --groups --folds --repeats --positive"},
    {"tune a.csv --search alignment", not_svc + folded +
                                          "--cost --weight --balanced --multi-class --no-bias "
                                          "--probability --tol --gap --time-limit "
                                          "--step-limit --method --no-shrinking --from"},
    {"tune a.csv --search radius-margin",
     not_svc + folded +
         "--weight --balanced --multi-class --no-bias --probability --tol --gap --time-limit "
         "--step-limit --method --no-shrinking --from"},
    {"tune a.csv m --search alignment", not_svc + folded + "--from"},
    {"tune a.csv", not_svc + "--from --points --positive --heat-map"},
    {"learn a.csv", ""},
    {"learn a.csv --groups g", "--by-time"},
    {"judge m a.csv", ""},
    {"compare m n a.csv", ""},
    {"predict m a.csv", ""},
    {"show m", ""},
    {"verify m a.csv", ""},
    {"verify m a.csv --json", "--all"},
    {"reduce m", reading},
    {"reduce m --no-joint --data a.csv", "--iterations"},
    {"cascade m a.csv", ""},
    {"detect m a.png", ""},
    {"multilabel a.csv b.csv --label-columns 2", "--label --labels --text-labels"},
    {"multilabel a.csv --label-columns 2", "--label --labels --text-labels --output"},
    {"calibrate m a.csv", ""},
    {"conformal m a.csv --aside b.csv", ""},
    {"bounds m a.csv", numbers + of_capacity + "--plan --data"},
    {"bounds --examples 10", of_models + of_capacity + reading + "--radius --norm --data"},
    {"bounds --examples 10 --epsilon 0.1",
     of_models + of_capacity + reading + "--radius --norm --plan --data"},
    {"bounds --radius 1 --norm 3", of_models + of_capacity + reading +
                                       "--error --delta --epsilon --functions --dimension "
                                       "--support --data"},
    {"bounds --plan --epsilon 0.1",
     of_models + of_capacity + reading + "--examples --error --radius --norm --support --data"},
    {"bounds --data a.csv",
     "--no-loo --widen --examples --epsilon --functions --dimension --features --radius --support "
     "--plan"},
    {"srm a.csv --family degree", "--kernel"},
    {"srm a.csv --family margin", "--gamma --cost"},
    {"srm a.csv --family components", "--gamma"},
    {"equivalent m", ""},
    {"features a.csv", "--repeats --score --seed --positive"},
    {"features a.csv --folds 3", "--repeats --score --positive --model"},
    {"features a.csv --method zero-norm", "--repeats --score --seed --positive --share --model"},
    {"features a.csv --model m",
     "--kernel --cost --scale --keep --share --folds --method --positive"},
    {"features a.csv --model m --score f1",
     "--kernel --cost --scale --keep --share --folds --method"},
    {"margin a.csv --plane 1,2", "--model"},
    {"margin a.csv --model m", "--plane --bias --positive"},
    {"query m a.csv", "--labelled --shortlist"},
    {"query m a.csv --rule max-min", ""},
    {"spread a.csv b.csv", ""},
    {"transform m a.csv", ""},
    {"denoise a.csv", "--patch --stride --sample"},
    {"denoise a.csv --preimage regression", "--patch --stride --sample --iterations"},
    {"denoise a.csv --model m", of_training + "--patch --stride --sample"},
    {"denoise a.png -o b.png", "--model " + reading + writing},
    {"superres a.png b.png --train c.png", "--sheet"},
    {"superres a.png b.png --train c.png --learn large", "--sheet --detail"},
    {"superres a.png b.png --model m", "--sheet " + of_learning},
    {"cca a.csv b.csv", ""},
    {"ica a.csv", "--lags --basis " + writing},
    {"ica a.csv -o b.csv", "--lags --basis"},
    {"ica a.csv --method tdsep", "--contrast --kappa " + writing},
    {"depend a.csv b.csv m", ""},
    {"depend a.csv b.csv m --lambda-path 1,2", "--lambda"},
    {"answer m a.csv", "--iterations"},
    {"answer m a.csv --preimage best", "--candidates --positions"},
    {"answer m a.csv --preimage distance", "--candidates --positions --iterations"},
    {"vq encode a.csv", "--codes --seed --start --block " + writing},
    {"vq encode a.csv --method lbg", "--radius --no-prune --time --block " + writing},
    {"vq encode a.csv --method lbg --start lp", "--codes --seed --block " + writing},
    {"vq encode a.png", "--codes --seed --start --double " + reading + writing},
    {"vq decode a.vq",
     "--radius --method --codes --start --block --no-prune --time --seed --double " + reading},
    {"plot regions m a.csv -o o.svg", of_sheets + "--sample --bins --problem --log"},
    {"plot gram linear a.csv -o o.svg", of_sheets + "--plane --resolution --bins --problem --log"},
    {"plot spectrum linear a.csv -o o.svg",
     of_sheets + "--plane --resolution --bins --problem --log"},
    {"plot reliability m a.csv -o o.svg",
     of_sheets + "--plane --resolution --sample --problem --log"},
    {"plot roc m a.csv -o o.svg",
     of_sheets + "--plane --resolution --sample --bins --problem --log"},
    {"plot convergence m -o o.svg",
     reading + of_sheets + "--plane --resolution --sample --bins --problem --log"},
    {"plot steps a.csv -o o.svg",
     reading + of_sheets + "--plane --resolution --sample --bins --log"},
    {"plot points a.csv -o o.svg", of_sheets + "--resolution --sample --bins --problem"},
    {"plot curves a.csv -o o.svg", of_sheets + "--resolution --sample --bins --problem"},
    {"plot sheet a.csv -o o.svg", "--plane --resolution --bins --problem --log"},
    {"plot codes a.vq a.csv -o o.svg", of_sheets + "--resolution --sample --bins --problem --log"},
    {"studio a.csv", ""},
    {"export m o.onnx", ""},
    {"export m o.c", ""},
    {"export m o.model", "--precision --name"},
    {"export m o.c --to libsvm", "--precision --name"},
    {"completion bash", ""},
    {"man", ""},
    {"man train", "--folder"},
};

/// The options of a command that some mode of it refuses.
std::set<std::string> refused_somewhere(const std::string& command) {
    std::set<std::string> names;
    for (const Mode& mode : modes) {
        if (split(mode.call)[0] != command) continue;
        for (const std::string& name : split(mode.refused)) names.insert(name);
    }
    return names;
}

TEST(Options, WithoutEffectAreRefusedInEveryModeOfEveryCommand) {
    std::map<std::string, std::map<std::string, Words>> all;
    const Folder folder;
    for (const Mode& mode : modes) {
        const Words call = split(mode.call);
        // What no mode refuses is tried once.
        const bool first = !all.contains(call[0]);
        if (first) all[call[0]] = options_of(call[0]);
        const auto some = refused_somewhere(call[0]);
        EXPECT_FALSE(has(run_in(folder.path(""), call).err, "has no meaning")) << mode.call;
        const Words refused = split(mode.refused);
        for (const auto& [name, value] : all[call[0]]) {
            if (std::ranges::find(call, name) != call.end()) continue;
            if (!first && !some.contains(name)) continue;
            Words words = call;
            words.push_back(name);
            words.insert(words.end(), value.begin(), value.end());
            std::filesystem::remove(
                folder.path("o.csv"));  // another kind of output may have made it
            const Outcome outcome = run_in(folder.path(""), words);
            const bool expected = std::ranges::find(refused, name) != refused.end();
            EXPECT_EQ(has(outcome.err, "has no meaning"), expected)
                << mode.call << " " << name << "\n"
                << outcome.err;
            EXPECT_TRUE(!expected || outcome.code == 2) << mode.call << " " << name;
        }
        for (const std::string& name : refused) {
            EXPECT_TRUE(all[call[0]].contains(name)) << mode.call << " has no option " << name;
        }
    }
    // No command is left out.
    std::istringstream help(run({"--help"}).out);
    for (std::string line; std::getline(help, line);) {
        const Words words = split(line);
        if (!line.starts_with("  ") || words[0][0] == '-' || words[0].starts_with("svm-")) continue;
        EXPECT_TRUE(all.contains(words[0])) << line;
    }
}

TEST(Options, TheMessageNamesOptionModeAndWhereItBelongs) {
    const auto message = [](const Words& words) { return run(words).err; };
    EXPECT_EQ(message({"srm", "@iris", "--family", "margin", "--gamma", "2"}),
              "mercer: error: --gamma has no meaning for --family margin; it belongs to degree\n");
    EXPECT_EQ(message({"bounds", "--examples", "10", "--radius", "1"}),
              "mercer: error: --radius has no meaning without --norm; give that too\n");
    EXPECT_TRUE(has(message({"train", "@iris", "--epsilon", "1"}), "it belongs to svr"));
}

TEST(Options, SlipsGetASuggestion) {
    const auto suggests = [](const Words& words, const std::string& part) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2);
        EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
    };
    suggests({"tran", "@iris"}, "Did you mean 'train' or 'transform'?");
    suggests({"trian", "@iris"}, "Did you mean 'train'?");
    suggests({"train", "@iris", "--sclae", "standard"}, "Did you mean '--scale'?");
    suggests({"train", "@iris", "--scael=standard"}, "Did you mean '--scale'?");
    suggests({"train", "@iris", "--prob"}, "Did you mean '--probability'?");
    suggests({"bounds", "--exmaples", "10"}, "Did you mean '--examples'?");
    suggests({"info", "@iris", "--by-columns"}, "Did you mean '--by-column'?");
    suggests({"train", "@iris", "--task", "svx"}, "Did you mean 'svc'?");
    suggests({"--verison"}, "--verison");
    EXPECT_FALSE(has(run({"train", "@iris", "--zzz"}).err, "Did you mean"));
}

TEST(Options, TheProgramAloneShowsItsCommandsInGroups) {
    const Outcome alone = run({});
    EXPECT_EQ(alone.code, 2);
    EXPECT_EQ(alone.out, run({"--help"}).out);
    EXPECT_LE(std::ranges::count(alone.out, '\n'), 60);  // one screen
    for (const char* group : {"\nLook at data and prepare it:\n", "\nChoose a kernel:\n",
                              "\nLearn, predict and judge:\n", "\nKnow how far to trust it:\n",
                              "\nFind structure:\n"}) {
        EXPECT_TRUE(has(alone.out, group)) << alone.out;
    }
    EXPECT_TRUE(has(alone.out, "train a machine and certify it"));
    const Outcome slip = run({"tran"});
    EXPECT_FALSE(has(slip.err, "convert")) << slip.err;
}

TEST(Options, BoundsUseFeaturesWithEpsilonAndNeedNoRowsForADimension) {
    const Outcome half_spaces =
        run({"bounds", "--examples", "1000", "--epsilon", "0.1", "--features", "2"});
    EXPECT_EQ(half_spaces.code, 0) << half_spaces.err;
    EXPECT_TRUE(has(half_spaces.out, "shattering")) << half_spaces.out;
    const Outcome margin = run({"bounds", "--radius", "1", "--norm", "3"});
    EXPECT_EQ(margin.code, 0) << margin.err;
    EXPECT_TRUE(has(margin.out, "margin-dimension")) << margin.out;
}

TEST(Options, AlignmentAtTheLimitOfItsSearchIsNotCalledConverged) {
    // A target that is linear: the wider the kernel, the better it aligns, without end.
    const Folder folder;
    std::string table = "x,y\n";
    for (int i = 0; i < 40; ++i) {
        table += std::to_string(0.025 * i) + "," + std::to_string(0.025 * i) + "\n";
    }
    const std::string path = folder.file("line.csv", table);
    const auto told = [&](const std::string& kernel, const Words& more) {
        Words words{"align", path, "--numbers", "--optimise", "--kernel", kernel};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.out;
    };
    const std::string json = told("rbf(gamma=100)", {"--json"});
    EXPECT_TRUE(has(json, "\"status\": \"at the limit of the search\"")) << json;
    EXPECT_TRUE(has(json, "gamma of rbf")) << json;
    const std::string text = told("rbf(gamma=100)", {});
    EXPECT_TRUE(has(text, "went all of it")) << text;
    EXPECT_TRUE(has(told("rbf(gamma=0.001)", {}), "converged"));
    // A search of settings by the same gradient says the same.
    const Outcome tuned =
        run({"tune", path, "--task", "svr", "--search", "alignment", "--kernel", "rbf(gamma=100)"});
    EXPECT_TRUE(has(tuned.out, "at the limit of the search")) << tuned.out << tuned.err;
}

}  // namespace
}  // namespace mercer::test
