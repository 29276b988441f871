// The program under mpirun: several processes, the ranks, that do one command together.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "mercer/data/dataset.hpp"
#include "mercer/data/read.hpp"

namespace mercer::cli {

/// What went wrong, and how the program ends.
struct Complaint {
    int code = 0;
    std::string message{};
};

/// What is to be said of what this function throws; code 0 where it throws nothing.
Complaint complaint_of(const std::function<void()>& work);

/// Runs the work, which returns an exit code and throws what keeps it from one, on this rank. Rank
/// 0 alone is heard. The first that fails ends all ranks, and rank 0 says why. The exit code, the
/// same for all.
int run_on_all_ranks(const std::function<int()>& work,
                     const std::function<int(const Complaint&)>& complain);

/// Whether several ranks can do this command together.
bool shared_by_ranks(const std::string& command);
/// Throws InvalidInput where there are several ranks and the command is not one that they can do
/// together.
void require_one_rank(const std::string& command);

bool several_ranks();
/// True for the rank that writes files.
bool is_first_rank();

/// Which rows of a file this rank is to read (ReadOptions::part); empty where there is one alone.
std::function<RowRange(std::size_t)> part_of_rank();
std::size_t rows_of_all_ranks(std::size_t own);

/// The labels of the rows of all ranks, one rank's after another's.
Labels labels_of_all_ranks(const Labels& own);

/// Hands the texts of all ranks, one after another, to the first of them, which writes them.
void texts_of_all_ranks(const std::string& own, const std::function<void(std::string_view)>& write);

}  // namespace mercer::cli
