// The processes of mpirun. What speaks MPI is a plugin (src/plugins/mpi.cpp), opened here.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mercer/base/detail/library.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/mpi_plugin.h"
#include "mercer/dist/detail/one_rank.hpp"

namespace mercer {
namespace {

/// How many processes were started together, by what their starters put into the environment: Open
/// MPI, MPICH and Intel MPI, and Slurm where it was asked for MPI (PMIX_RANK): copies that it
/// starts without are on their own. 1 where nothing is said, or MERCER_MPI=off.
std::size_t started_together() {
    const char* const wish = std::getenv("MERCER_MPI");
    if (wish && std::string(wish) == "off") return 1;
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        const bool slurm = std::string_view(name).starts_with("SLURM");
        if (slurm && !std::getenv("PMIX_RANK")) continue;
        const char* const text = std::getenv(name);
        const double number = text ? parse_number(text).value_or(0) : 0;
        if (number >= 1) return static_cast<std::size_t>(number);
    }
    return 1;
}

/// Where the library lies that this function is part of.
std::filesystem::path own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&one_rank), &info) == 0 || !info.dli_fname) return {};
    return std::filesystem::path(info.dli_fname).parent_path();
}

/// Beside the library, or wherever the loader looks.
MercerMpiBegin open_plugin() {
    const std::string beside = (own_folder() / MERCER_MPI_LIBRARY).string();
    try {
        const Library plugin({beside.c_str(), MERCER_MPI_LIBRARY},
                             "several processes; install libopenmpi-dev, and build Mercer again");
        return plugin.function<MercerMpiBegin>("mercer_mpi_begin");
    } catch (const std::runtime_error& error) {
        throw InvalidInput("mpirun has started " + std::to_string(started_together()) +
                           " processes, which this copy of Mercer cannot join: " + error.what());
    }
}

class MpiRanks final : public Communicator {
   public:
    MpiRanks() {
        const MercerMpiBegin begin = open_plugin();
        if (begin(&mpi_) != 0 || mpi_.version != mercer_mpi_version) {
            throw InvalidInput(MERCER_MPI_LIBRARY " cannot begin MPI, or is of another version");
        }
    }
    MpiRanks(const MpiRanks&) = delete;
    MpiRanks& operator=(const MpiRanks&) = delete;
    ~MpiRanks() override { mpi_.finish(); }

    std::size_t rank() const override { return mpi_.rank; }
    std::size_t size() const override { return mpi_.size; }

   protected:
    void gather(const void* own, void* all, std::span<const std::size_t> bytes) override {
        require_short(bytes);
        check(mpi_.gather(own, all, bytes.data()));
    }
    void exchange(const void* sent, std::span<const std::size_t> sent_bytes, void* received,
                  std::span<const std::size_t> received_bytes) override {
        require_short(sent_bytes);
        require_short(received_bytes);
        check(mpi_.exchange(sent, sent_bytes.data(), received, received_bytes.data()));
    }

   private:
    static void require_short(std::span<const std::size_t> bytes) {
        std::size_t sum = 0;
        for (const std::size_t count : bytes) sum += count;
        if (sum >> 31 == 0) return;
        throw InvalidInput("a message of " + std::to_string(sum) +
                           " bytes is more than MPI can send at once; use fewer `centres`");
    }
    void check(int error) const {
        if (error == 0) return;
        char text[512] = "";
        mpi_.message(error, text, sizeof text);
        throw std::runtime_error("MPI: " + std::string(text));
    }

    MercerMpi mpi_{};
};

}  // namespace

std::unique_ptr<Communicator> ranks_of_this_run() {
    if (started_together() == 1) return one_rank();
    return std::make_unique<MpiRanks>();
}

}  // namespace mercer
