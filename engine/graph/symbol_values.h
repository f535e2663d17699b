/// The values of a program's symbols: where its inputs have them, which are allowed, and which are
/// worth a trial.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

using SymbolValues = std::map<std::string, std::int64_t>; ///< By the symbols' names.

/// An extent of a user's input that a symbol's value follows from: it is
/// `factor` * symbol + `offset`.
struct SymbolSource {
    std::string symbol;
    std::string input;    ///< The input's name in the graph.
    std::size_t axis = 0; ///< Of the input, the outermost is 0.
    std::int64_t factor = 1;
    std::int64_t offset = 0;
};

/// A source for each symbol, sorted by the symbols' names; an extent that is the symbol alone comes
/// before others. Unsupported, by name, for a symbol that no input's extent gives.
[[nodiscard]] Result<std::vector<SymbolSource>> symbolSources(const Program& program);

/// The values that the symbols had at export. Unsupported, by name, for one that no extent is.
[[nodiscard]] Result<SymbolValues> exportedSymbols(const Program& program);

/// Says what is wrong with the values, in a sentence: one is outside of its range, a relation does
/// not hold, an extent is negative or no integer. Empty if nothing is.
[[nodiscard]] std::string symbolProblem(const Program& program, const SymbolValues& symbols);

/// The program as if it had been exported with these values: extents stay dynamic. InvalidInput
/// with the reason of symbolProblem() for values that are not allowed.
[[nodiscard]] Result<Program> withSymbolValues(Program program, const SymbolValues& symbols);

/// "extent 0 of x", or "(extent 0 of x - 1) / 2".
[[nodiscard]] std::string textOf(const SymbolSource& source);

/// "2 ... 4096", "at least 2" or "any".
[[nodiscard]] std::string rangeText(const SymbolRange& range);

/// Values to try a program with, all of them allowed and no two the same: those at export, the
/// smallest, and odd ones that differ from symbol to symbol. One without values for a program
/// without symbols; empty if not even the values at export are allowed.
[[nodiscard]] std::vector<SymbolValues> symbolTrials(const Program& program);

} // namespace kernelskill::engine::graph
