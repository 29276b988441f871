// mercer studio: a page on this machine to look at data, kernels and machines.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "studio/server.hpp"
#include "studio/workbench.hpp"

namespace mercer::cli {
namespace {

struct StudioCommand {
    std::string source{};
    std::string root{};
    std::size_t port = 0;
};

void run(const StudioCommand& c, const Session& session) {
    if (!c.root.empty() && !std::filesystem::is_directory(c.root)) {
        throw InvalidInput("--root " + c.root + " is no folder");
    }
    const StopOnInterrupt stop;
    studio::Workbench bench(c.root);
    if (!c.source.empty()) bench.open(c.source);
    const studio::Server server(
        {.port = static_cast<std::uint16_t>(c.port)},
        [&](const studio::Request& request) { return bench.answer(request); });
    if (session.json) {
        print_json({{"address", server.address()}, {"port", server.port()}});
    } else {
        say("{}", line("studio", server.address()));
        say("{}", line("", "open this address in a browser on this machine; Ctrl-C ends it"));
    }
    std::fflush(stdout);
    while (!stop.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace

void add_studio(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "studio", "open a page on this machine: data, kernels, training, certificates",
        "  mercer studio\n"
        "  mercer studio @iris --port 8080\n"
        "  mercer studio digits.mercer\n"
        "  mercer studio --root ~/data\n"
        "The page is served to this machine alone, to whoever has the address printed.");
    const auto options = std::make_shared<StudioCommand>();
    add_file(command, session, "SOURCE", options->source, FileUse::input,
             "data or a model to begin with; @digits and @iris are built in");
    add_count(command, "--port", options->port, 0, 65535, "where to listen; 0: any port free [0]");
    command
        .add_option("--root", options->root,
                    "files below this folder may be opened by name in the page; none without it")
        ->type_name("FOLDER");
    command.callback(
        [&session, options] { session.action = [&session, options] { run(*options, session); }; });
}

}  // namespace mercer::cli
