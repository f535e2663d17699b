/// A program that LibTorch is asked to run, and how.
#pragma once

#include "engine/graph/program.h"
#include "engine/graph/program_part.h"
#include "engine/graph/reference/smaller_program.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// The type that floating-point numbers are computed in. AsWritten keeps each tensor's own element
/// type; the others hold for all tensors, also for those that the program converts.
enum class Precision : std::uint8_t { AsWritten, Float32, Float64 };

/// A program with its inputs, and how to run it.
struct TorchSubject {
    std::filesystem::path archive; ///< Absolute.
    /// Values for the user's inputs that are tensors, in their order. nullopt: made from the seed.
    std::optional<std::vector<TensorData>> inputs;
    Precision precision = Precision::AsWritten;
    std::string device = "cpu"; ///< "cpu", "cuda", "cuda:1".
    /// Makes the tensors that the archive names and does not hold (seeded_tensors.h), and seeds the
    /// operators that draw random numbers.
    std::uint64_t seed = 1;
    /// Whether products and convolutions on a GPU may round float32 operands to TF32. A judge times
    /// the eager program by PyTorch's defaults: convolutions may, products may not.
    bool allowsTf32 = false;
    /// All extents that are not dynamic are made smaller first, by withExtents(); the symbols have
    /// these values.
    ProgramExtents extents = {};
    /// The part of the program that is run, see programPart(); nullopt: all of it.
    std::optional<ProgramPart> part;
};

} // namespace kernelskill::engine::graph
