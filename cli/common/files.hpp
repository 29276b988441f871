// The files that a command line names (add_file in cli/common/session.hpp). Before any work is done
// one check sees to it that nothing the user has is written over by accident.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/common/session.hpp"

namespace mercer::cli {

/// A file on the command line: the option that names it as it stands in the help, and the name.
struct NamedFile {
    std::string option;
    std::string path;
    FileUse use;
};

/// What the words of this run name, and the labels that are read or written beside those.
std::vector<NamedFile> files_named(const CLI::App& command, const Session& session);

/// Throws InvalidInput when an output is the same file as an input or as another output, whatever
/// the names (links are followed, and so is standard input that comes from a file), or would take
/// the place of a file of another kind: a model goes only where a model is or nothing, a picture
/// likewise, and no other output goes where a model is. What is no regular file is not looked at.
/// Nor may an output be a folder, or lie in one that cannot be written to.
void check_files(const std::vector<NamedFile>& files);

}  // namespace mercer::cli
