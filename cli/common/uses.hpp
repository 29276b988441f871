// Which calls an option belongs to. An option that would have no effect is a mistake of whoever
// wrote it, and is refused: each option that does not belong to every call of its command says so
// where it is added, and main asks once the whole command line has been understood.
//
//     CLI::Option* family = add_choice(command, session, "--family", o->family, {…}, "…");
//     only(session, command.add_option("--gamma", …), for_words(family, o->family, {"degree"}));
//     only(session, command.add_option("--tol", …), with(combine));
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace mercer::cli {

struct Session;

/// What has to be so for an option to have an effect, and the words for when it is not.
struct Condition {
    std::function<bool()> holds;
    std::function<std::string()> now;     ///< what is so instead: "for --family margin"
    std::string wanted;                   ///< "it belongs to degree and components"
    const CLI::Option* choice = nullptr;  ///< whose word decides, if it is one's
};

/// An option and what it needs.
struct Use {
    CLI::Option* option;
    Condition condition;
};

/// The choice is one of these words. `value` is what the choice is read into, `remark` follows.
Condition for_words(const CLI::Option* choice, const std::string& value,
                    std::vector<std::string> words, const std::string& remark = "");
/// One of these was given.
Condition with(std::vector<const CLI::Option*> others);
/// Not given; `why` it rules the option out.
Condition without(const CLI::Option* other, const std::string& why);
/// Anything else: `now` follows "has no meaning", `wanted` is a sentence of its own.
Condition when(std::function<bool()> holds, const std::string& now, const std::string& wanted);

/// Declares that the option belongs to such calls only. An option may need several things.
CLI::Option* only(Session& session, CLI::Option* option, Condition condition);
void only(Session& session, const std::vector<CLI::Option*>& options, const Condition& condition);

/// Throws InvalidInput for the first option that was given and has no effect in this call.
void check_uses(const std::vector<Use>& uses);

/// The same for what is known only later, when a model or a file has been read: throws if this
/// option of the command that runs was given.
void refuse_given(const Session& session, const std::string& option, const std::string& now,
                  const std::string& wanted);

/// Help leaves out the options that the word chosen for `choice` has no use for.
void hide_unused(const Session& session, const CLI::Option* choice);

/// "--cost", "INPUT": as the user would write it.
std::string spelled(const CLI::Option& option);

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words);

}  // namespace mercer::cli
