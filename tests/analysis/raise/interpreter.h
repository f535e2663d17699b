/// Runs raised programs on the CPU, element by element: slow, and a reference for kernels.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {

/// The elements of all buffers of a program, by their numbers. A double holds each value of every
/// type but integers of more than 53 bits.
using Memory = std::vector<std::vector<double>>;

enum class Precision : std::uint8_t {
    AsWritten, ///< Results are rounded to their types; sums and products are accumulated in double.
    Double,    ///< Numbers with a fraction are doubles, whatever their types.
};

struct InterpreterOptions {
    std::map<std::string, std::int64_t> sizes = {}; ///< Of the sizes that indices name.
    Precision precision = Precision::AsWritten;
    std::size_t maxElements = std::size_t{1} << 32; ///< Elements that may be evaluated in all.
};

/// Runs the computations. Inputs and weights in `memory` are set, with as many elements as their
/// shapes have; the others are made. Fails with a sentence at a library call, at an unknown size,
/// at a store outside of its buffer, and at more elements than allowed.
[[nodiscard]] std::expected<void, std::string> interpret(const Program& program, Memory& memory,
                                                         const InterpreterOptions& options = {});

/// The value of an index in which no axis stands; nullopt if a size is not among `sizes`.
[[nodiscard]] std::optional<std::int64_t> valueOf(const Index& index,
                                                  const std::map<std::string, std::int64_t>& sizes);

/// `value` as that type holds it.
[[nodiscard]] double rounded(double value, ScalarKind type);

} // namespace kernelskill::analysis::raise
