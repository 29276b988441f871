#include "cli/program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace mercer::test {
namespace {

int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Starts a program with its three standard files taken from or put into these paths.
pid_t start(const std::string& program, const std::vector<std::string>& words,
            const std::string& in, const std::string& out, const std::string& err,
            int in_descriptor = -1) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (in_descriptor >= 0) {
        posix_spawn_file_actions_adddup2(&actions, in_descriptor, 0);
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
    }
    const int mode = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), mode, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), mode, 0600);
    std::vector<std::string> all{program};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = -1;
    const int failed =
        posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) throw std::runtime_error("cannot start " + program);
    return process;
}

/// Waits until the program has said what the signal is to do, which under a sanitizer or beside
/// other work is long after its start. One that has ended is waited for no longer.
void wait_until_heard(pid_t process, int signal) {
    if (signal == SIGKILL) return;
    for (bool heard = false; !heard; usleep(1000)) {
        std::ifstream status("/proc/" + std::to_string(process) + "/status");
        heard = !status;
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("State:\tZ")) heard = true;
            if (!line.starts_with("SigCgt:") && !line.starts_with("SigIgn:")) continue;
            const auto mask = std::stoull(line.substr(line.find('\t') + 1), nullptr, 16);
            if ((mask >> (signal - 1) & 1) != 0) heard = true;
        }
    }
}

int wait_for(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return code_of(status);
}

}  // namespace

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mercer-cli-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
        result.push_back(entry.path().filename().string());
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

Outcome run_program(const std::string& program, const std::vector<std::string>& words,
                    const std::string& input) {
    const Folder folder;
    const std::string in = folder.file("in", input);
    Outcome outcome;
    outcome.code = wait_for(start(program, words, in, folder.path("out"), folder.path("err")));
    outcome.out = content_of(folder.path("out"));
    outcome.err = content_of(folder.path("err"));
    return outcome;
}

Outcome run(const std::vector<std::string>& words, const std::string& input) {
    return run_program(MERCER_PROGRAM, words, input);
}

Outcome run_in(const std::string& folder, const std::vector<std::string>& words) {
    std::vector<std::string> all{"-C", folder, MERCER_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run_program("env", all);
}

Outcome run_into(const std::string& output, const std::vector<std::string>& words) {
    const Folder folder;
    Outcome outcome;
    outcome.code = wait_for(start(MERCER_PROGRAM, words, "/dev/null", output, folder.path("err")));
    outcome.err = content_of(folder.path("err"));
    return outcome;
}

Outcome run_and_signal(const std::vector<std::string>& words, int signal, int milliseconds) {
    const Folder folder;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t process =
        start(MERCER_PROGRAM, words, "", folder.path("out"), folder.path("err"), ends[0]);
    wait_until_heard(process, signal);
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
    kill(process, signal);
    Outcome outcome;
    outcome.code = wait_for(process);
    close(ends[0]);
    close(ends[1]);
    outcome.out = content_of(folder.path("out"));
    outcome.err = content_of(folder.path("err"));
    return outcome;
}

json json_of(Words words, int code) {
    words.emplace_back("--json");
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.err << outcome.out;
    return json::parse(outcome.out, nullptr, false);
}

json json_of(Words words, const std::string& input) {
    words.emplace_back("--json");
    const Outcome outcome = run(words, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return json::parse(outcome.out, nullptr, false);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Words lines_of(const std::string& text) {
    std::istringstream in(text);
    Words lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

}  // namespace mercer::test
