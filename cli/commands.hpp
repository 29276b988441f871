// The commands, one file each. Every function describes its command to the parser and leaves in
// the session what is to be done should it be chosen.
#pragma once

#include "cli/common/session.hpp"

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
void add_plan(CLI::App& program, Session& session);
void add_tune(CLI::App& program, Session& session);
void add_predict(CLI::App& program, Session& session);
void add_transform(CLI::App& program, Session& session);
void add_denoise(CLI::App& program, Session& session);
void add_cca(CLI::App& program, Session& session);
void add_ica(CLI::App& program, Session& session);
void add_depend(CLI::App& program, Session& session);
void add_answer(CLI::App& program, Session& session);
void add_superres(CLI::App& program, Session& session);
void add_show(CLI::App& program, Session& session);
void add_plot(CLI::App& program, Session& session);
void add_export(CLI::App& program, Session& session);
void add_studio(CLI::App& program, Session& session);
void add_verify(CLI::App& program, Session& session);
void add_reduce(CLI::App& program, Session& session);
void add_cascade(CLI::App& program, Session& session);
void add_vq(CLI::App& program, Session& session);
void add_virtual(CLI::App& program, Session& session);
void add_tangent(CLI::App& program, Session& session);
void add_detect(CLI::App& program, Session& session);
void add_bounds(CLI::App& program, Session& session);
void add_margin(CLI::App& program, Session& session);
void add_structure(CLI::App& program, Session& session);
void add_align(CLI::App& program, Session& session);
void add_calibrate(CLI::App& program, Session& session);
void add_conformal(CLI::App& program, Session& session);
void add_equivalent(CLI::App& program, Session& session);
void add_features(CLI::App& program, Session& session);
void add_query(CLI::App& program, Session& session);
void add_spread(CLI::App& program, Session& session);
void add_multilabel(CLI::App& program, Session& session);
void add_judge(CLI::App& program, Session& session);
void add_compare(CLI::App& program, Session& session);
void add_learn(CLI::App& program, Session& session);
void add_completion(CLI::App& program, Session& session);
void add_man(CLI::App& program, Session& session);
/// LIBSVM's programs, which main runs by themselves: here only to be listed.
void add_libsvm_programs(CLI::App& program);

}  // namespace mercer::cli
