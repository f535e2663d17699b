/// A part of a PyTorch program as a program of its own.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <map>
#include <set>
#include <string>

namespace kernelskill::engine::graph {

/// Nodes of a program, and the values of theirs that are asked for.
struct ProgramPart {
    std::set<std::string> nodes;
    std::set<std::string> outputs;
    bool operator==(const ProgramPart&) const = default;
};

/// A part as a program, and the names that it gives the values of the whole.
struct NamedPart {
    Program program;
    std::map<std::string, std::string> names; ///< The part's by those of the whole.
};

/// The program of these nodes alone. What others computed for them is an input of the user. Nodes,
/// values and tensors are numbered in the order of their first use, so that equal layers become
/// equal programs. Whoever makes the part gets the same program. Unsupported for a part that reads
/// numbers which the program computes, or subgraphs, or has dynamic extents; InvalidInput for a
/// node that the program lacks, or an output that no node of the part makes.
[[nodiscard]] Result<NamedPart> namedPart(const Program& program, const ProgramPart& part);
/// The same without the names.
[[nodiscard]] Result<Program> programPart(const Program& program, const ProgramPart& part);

/// The name that programPart() gives the node of that place.
[[nodiscard]] std::string partNodeName(std::size_t place);

} // namespace kernelskill::engine::graph
