#include "cli/common/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/data/source.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

namespace fs = std::filesystem;

/// Which file it is: device and number of what there is; for what there is not yet, those of its
/// folder and the name in it.
struct Identity {
    dev_t device = 0;
    ino_t number = 0;
    std::string name{};
    friend bool operator==(const Identity&, const Identity&) = default;
};

bool is_word(const NamedFile& file) {
    return file.path.empty() || file.path[0] == '@' ||
           (file.use == FileUse::column && file.path == "none");
}

/// Where a link leads that may lead to nothing yet.
fs::path followed(fs::path path) {
    std::error_code error;
    for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
        path = path.parent_path() / fs::read_symlink(path, error);
    }
    return path;
}

std::optional<Identity> identity_of(const NamedFile& file) {
    struct stat status {};
    if (is_word(file)) return std::nullopt;
    if (file.path == "-") {
        if (file.use != FileUse::input) return Identity{.name = "-"};
        if (fstat(STDIN_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
        return Identity{.device = status.st_dev, .number = status.st_ino};
    }
    if (stat(file.path.c_str(), &status) == 0) {
        if (!S_ISREG(status.st_mode)) return std::nullopt;
        return Identity{.device = status.st_dev, .number = status.st_ino};
    }
    const fs::path path = followed(file.path);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (stat(folder.c_str(), &status) != 0) return std::nullopt;
    return Identity{
        .device = status.st_dev, .number = status.st_ino, .name = path.filename().string()};
}

std::string shown(const NamedFile& file) {
    return fmt::format("{} {}", file.option,
                       file.path != "-"             ? file.path
                       : file.use == FileUse::input ? "standard input"
                                                    : "standard output");
}

[[noreturn]] void refuse_pair(const NamedFile& first, const NamedFile& second) {
    const bool first_is_input = first.use == FileUse::input;
    if (first_is_input || second.use == FileUse::input) {
        const NamedFile& input = first_is_input ? first : second;
        const NamedFile& output = first_is_input ? second : first;
        throw InvalidInput(
            fmt::format("{} is the same file as {}: the output would take the place of what is "
                        "read; give it a name of its own",
                        shown(output), shown(input)));
    }
    throw InvalidInput(
        fmt::format("{} is the same file as {}: one output would take the place of the other; "
                    "give each a name of its own",
                    shown(second), shown(first)));
}

bool looks_like_model(const std::string& path, const std::string& head) {
    if (!is_compressed(head)) return is_model_file(head) || is_libsvm_model(head);
    const Content content = read_bytes(path);
    return is_model_file(content.view()) || is_libsvm_model(content.view());
}

bool looks_like_picture(std::string_view head) {
    constexpr std::array<std::string_view, 6> beginnings{"<svg", "<?xml", "\x89PNG",
                                                         "P5",   "P6",    "P2"};
    for (const std::string_view beginning : beginnings) {
        if (head.starts_with(beginning)) return true;
    }
    return false;
}

/// Hours of work should not end in a name that cannot be written to.
void check_place(const NamedFile& file) {
    const fs::path place(file.path);
    const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
    std::error_code error;
    if (fs::is_directory(place, error)) {
        throw InvalidInput(shown(file) + " is a folder; name a file");
    }
    if (!fs::exists(place, error) && access(folder.c_str(), W_OK) != 0) {
        throw InvalidInput(
            fmt::format("{} cannot be written: {}", shown(file), std::strerror(errno)));
    }
}

/// An earlier output is replaced as a matter of course; a slip of the order of two names is not.
void check_kind(const NamedFile& file) {
    struct stat status {};
    if (stat(file.path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        return;
    }
    std::string head(4096, '\0');
    std::ifstream stream(file.path, std::ios::binary);
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(stream.gcount()));
    const auto refuse = [&](const char* what) {
        throw InvalidInput(
            fmt::format("{} exists and {}: it would be lost; give the output another name, or "
                        "remove the file first",
                        shown(file), what));
    };
    if (file.use == FileUse::model) {
        if (!looks_like_model(file.path, head)) refuse("is no model");
    } else if (file.use == FileUse::picture) {
        if (!is_compressed(head) && !looks_like_picture(head)) refuse("is no picture");
    } else if (!is_compressed(head) && looks_like_model(file.path, head)) {
        refuse("is a model");
    }
}

std::string labels_of(const std::string& option) {
    return "the labels of " + option;
}

/// The labels that are read with a file because they lie beside it.
void add_beside(const std::string& option, const std::string& path, std::vector<NamedFile>& files) {
    const Format* format = format_of_name(path);
    if (format == nullptr || format->labels_beside == nullptr) return;
    const std::string labels = format->labels_beside(path);
    std::error_code error;
    if (labels.empty() || !fs::is_regular_file(labels, error)) return;
    files.push_back({labels_of(option), labels, FileUse::input});
}

}  // namespace

std::vector<NamedFile> files_named(const CLI::App& command, const Session& session) {
    std::vector<NamedFile> files;
    for (const CLI::Option* option : command.get_options()) {
        const auto known = session.files.find(option);
        if (known == session.files.end()) continue;
        for (const std::string& path : option->results()) {
            files.push_back({option->get_name(), path, known->second});
            if (known->second == FileUse::input) add_beside(option->get_name(), path, files);
        }
        const auto beside = session.beside.find(option);
        const std::string path = beside == session.beside.end() ? "" : beside->second();
        if (!path.empty()) files.push_back({labels_of(option->get_name()), path, FileUse::data});
    }
    return files;
}

void check_files(const std::vector<NamedFile>& files) {
    std::vector<std::pair<NamedFile, Identity>> seen;
    for (const NamedFile& file : files) {
        const std::optional<Identity> identity = identity_of(file);
        if (!identity) continue;
        for (const auto& [other, other_identity] : seen) {
            const bool both_read = file.use == FileUse::input && other.use == FileUse::input;
            if (!both_read && *identity == other_identity) refuse_pair(other, file);
        }
        seen.emplace_back(file, *identity);
    }
    for (const NamedFile& file : files) {
        if (file.use == FileUse::input || is_word(file) || file.path == "-") continue;
        check_place(file);
        check_kind(file);
    }
}

}  // namespace mercer::cli
