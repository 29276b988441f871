// A machine is known in its own pair of files, in the registry and in a file of the Python package,
// and nowhere else: so a new one touches no more than these (and its page of the documents).
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mercer/learn/registry.hpp"
#include "repository/tree.hpp"

namespace mercer::test {
namespace {

/// True when the text names the machine: as a value of Task, or by its word in quotes.
bool names(const std::string& text, const std::string& task, const std::string& word) {
    const std::string value = "Task::" + task;
    for (std::size_t at = 0; (at = text.find(value, at)) != std::string::npos; ++at) {
        const std::size_t next = at + value.size();
        const char after = next < text.size() ? text[next] : ' ';
        if (std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '_') return true;
    }
    return text.find('"' + word + '"') != std::string::npos;
}

/// Files of the library, the program and the Python package that name it, without the rooms below
/// learn/, where the same word may be a kernel's.
std::set<std::string> files_naming(const std::string& task, const std::string& word) {
    std::set<std::string> found;
    for (const char* place : {"src/mercer", "cli", "python/mercer", "python/src"}) {
        for (const auto& entry : fs::recursive_directory_iterator(source_root() / place)) {
            const std::string kind = entry.path().extension().string();
            if (kind != ".cpp" && kind != ".hpp" && kind != ".py") continue;
            const std::string name = entry.path().lexically_relative(source_root()).string();
            if (name.starts_with("src/mercer/kernel/")) continue;
            if (names(contents(entry.path()), task, word)) found.insert(name);
        }
    }
    return found;
}

struct Known {
    std::string word;
    std::string task;
    /// Beyond its own: who asks for this very machine, because a command or a theorem is about it.
    std::set<std::string> besides{};
};

// Where a machine is asked for by name today. A new row needs no third column; what is listed there
// may only become less.
const std::vector<Known>& known() {
    static const std::vector<Known> all{
        {"ridge", "ridge", {"src/mercer/learn/convexity.cpp", "python/src/machines.cpp"}},
        {"class-means", "class_means", {"cli/common/model_output.cpp"}},
        {"k-means", "kmeans", {"cli/machines/train.cpp"}},
        {"vq", "vq", {"cli/components/vq.cpp"}},
        {"ica", "ica", {"cli/components/ica.cpp"}},
        {"tdsep", "tdsep", {"cli/components/ica.cpp"}},
        {"cca", "cca", {"cli/components/cca.cpp"}},
        {"dependency", "dependency", {"cli/machines/predict.cpp"}},
        {"multilabel", "multi_label", {"cli/machines/multilabel.cpp"}},
        {"spreading", "spreading", {"cli/common/model_output.cpp"}},
        {"kha", "kha", {"cli/machines/train.cpp", "cli/components/superres.cpp"}},
        {"huber", "huber", {"src/mercer/learn/convexity.cpp", "cli/common/certificate_output.cpp"}},
    };
    return all;
}

TEST(Machines, AreKnownInTheirOwnFilesAndOnePythonFile) {
    for (const Known& machine : known()) {
        SCOPED_TRACE(machine.word);
        const std::string family = machine_entry(machine.word).family;
        std::set<std::string> own;
        std::set<std::string> python;
        for (const std::string& file : files_naming(machine.task, machine.word)) {
            if (machine.besides.contains(file)) continue;
            // learn/registry.hpp shows one as an example.
            if (file == "src/mercer/learn/registry.hpp") continue;
            if (file.starts_with("python/mercer/")) {
                python.insert(file);
            } else {
                EXPECT_TRUE(file.starts_with("src/mercer/learn/")) << file << " knows it too";
                own.insert(file);
            }
        }
        EXPECT_GE(own.size(), 1U) << "the check found too little to be believed";
        EXPECT_LE(own.size(), 2U) << "a pair of files";
        EXPECT_LE(python.size(), 1U);
    }
}

TEST(Machines, TheCheckSeesMistakes) {
    EXPECT_TRUE(names("if (task == Task::ridge) return;", "ridge", "ridge"));
    EXPECT_TRUE(names("task == \"k-means\"", "kmeans", "k-means"));
    EXPECT_FALSE(names("Task::ridge_of_mountains", "ridge", "ridge"));
    EXPECT_FALSE(names("// ridge regression", "ridge", "ridge"));
}

}  // namespace
}  // namespace mercer::test
