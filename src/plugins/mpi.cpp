// Ranks by MPI, in a library of its own (libmercer_mpi.so) that is opened when a program runs under
// mpirun: nobody needs MPI who does not use it.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "mercer/dist/detail/mpi_plugin.h"

namespace {

int rank_count = 1;
bool own_begin = true;  ///< MPI was begun here, and is ended here

/// Counts and places as MPI wants them.
struct Layout {
    explicit Layout(const size_t* bytes) {
        int place = 0;
        for (int r = 0; r < rank_count; ++r) {
            counts.push_back(static_cast<int>(bytes[r]));
            places.push_back(place);
            place += counts.back();
        }
    }
    std::vector<int> counts{};
    std::vector<int> places{};
};

int gather(const void* own, void* all, const size_t* bytes) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Layout layout(bytes);
    return MPI_Allgatherv(own, layout.counts[static_cast<size_t>(rank)], MPI_BYTE, all,
                          layout.counts.data(), layout.places.data(), MPI_BYTE, MPI_COMM_WORLD);
}

int exchange(const void* sent, const size_t* sent_bytes, void* received,
             const size_t* received_bytes) {
    const Layout out(sent_bytes);
    const Layout in(received_bytes);
    return MPI_Alltoallv(sent, out.counts.data(), out.places.data(), MPI_BYTE, received,
                         in.counts.data(), in.places.data(), MPI_BYTE, MPI_COMM_WORLD);
}

void message(int error, char* text, size_t length) {
    char own[MPI_MAX_ERROR_STRING] = "";
    int size = 0;
    MPI_Error_string(error, own, &size);
    std::snprintf(text, length, "%s", own);
}

void finish() {
    int over = 0;
    MPI_Finalized(&over);
    if (own_begin && over == 0) MPI_Finalize();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int mercer_mpi_begin(struct MercerMpi* mpi) {
    int given = 0;
    int begun = 0;
    MPI_Initialized(&begun);  // by mpi4py, which then also ends it
    own_begin = begun == 0;
    // One thread at a time, though not always the same one.
    const int error =
        own_begin ? MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return error;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    *mpi = {mercer_mpi_version,
            static_cast<size_t>(rank),
            static_cast<size_t>(rank_count),
            gather,
            exchange,
            message,
            finish};
    return 0;
}
