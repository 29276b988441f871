// The commands, one file each. Every function describes its command to the parser and leaves in
// the session what is to be done should it be chosen.
#pragma once

#include "cli/session.hpp"

namespace mercer::cli {

void add_info(CLI::App& program, Session& session);
void add_convert(CLI::App& program, Session& session);
void add_scale(CLI::App& program, Session& session);
void add_make(CLI::App& program, Session& session);
void add_kernel(CLI::App& program, Session& session);
void add_gram(CLI::App& program, Session& session);
void add_map(CLI::App& program, Session& session);
void add_split(CLI::App& program, Session& session);
void add_train(CLI::App& program, Session& session);
void add_tune(CLI::App& program, Session& session);
void add_predict(CLI::App& program, Session& session);
void add_show(CLI::App& program, Session& session);
void add_verify(CLI::App& program, Session& session);
void add_completion(CLI::App& program, Session& session);
/// LIBSVM's programs, which main runs by themselves: here only to be listed.
void add_libsvm_programs(CLI::App& program);

}  // namespace mercer::cli
