/// Work for an executor, as data: what to launch, on what, and what to report.
#pragma once

#include "analysis/model/kernel_model.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::engine {

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
    bool operator==(const Dim3&) const = default;
};

/// How a buffer is filled before a run. Values depend only on the fill, the seed and the element
/// index.
enum class Fill : std::uint8_t {
    Random, ///< Floats uniform in [-1, 1); integers uniform in [0, range)
    Zero,
    Constant, ///< `value`
    Iota,
    Poison,   ///< A pattern no computation leaves by chance: outputs
    Captured, ///< What a program passed, see BufferSpec::captured
};

/// A buffer of a launch as a program was seen to pass it, in files on this machine.
struct CapturedBytes {
    std::string before; ///< Absolute path of what it held when the launch began.
    std::string after;  ///< The same when the launch had ended; empty when nobody looked. Executors
                        ///< are not told.
    /// What the files hold. Floats become doubles where the buffer's elements are.
    analysis::ScalarKind element = analysis::ScalarKind::Float;
    bool operator==(const CapturedBytes&) const = default;
};

struct BufferSpec {
    std::string name; ///< The parameter's name.
    analysis::ScalarKind element = analysis::ScalarKind::Float;
    std::uint32_t elementBytes = 4;        ///< sizeof of the pointee (16 for float4*).
    std::optional<std::uint64_t> elements; ///< nullopt: discover by running over sparse memory.
    Fill fill = Fill::Random;
    double value = 0; ///< For Constant.
    std::int64_t integerRange =
        0;                 ///< For Random integers; 0: 256, or the element's range if smaller.
    bool isOutput = false; ///< Compared after the run.
    bool isInput = true;   ///< Filled by `fill`; else poisoned.
    std::optional<CapturedBytes> captured; ///< With Captured.
    bool operator==(const BufferSpec&) const = default;
};

/// A by-value argument: its bytes as the kernel's ABI wants them.
struct ScalarSpec {
    std::string name;
    std::vector<std::byte> bytes;
    std::optional<std::int64_t>
        integer; ///< Its value when integral, for display and shape changes.
    std::optional<double> floating;
};

using ArgumentSpec = std::variant<BufferSpec, ScalarSpec>;

/// What a `__device__` or `__constant__` variable holds when the launch begins, where the program's
/// text alone does not say it: the host copies to it, or another kernel writes it.
struct SymbolSpec {
    std::string name;              ///< Without its namespaces.
    Fill fill = Fill::Random;      ///< Constant and Random are meant by what its type is.
    double value = 0;              ///< For Constant.
    std::int64_t integerRange = 0; ///< For Random integers; 0: a small one.
};

/// Where a launch came from, so that the user can be told and can pin it.
enum class LaunchOrigin : std::uint8_t {
    Pinned,
    Captured, ///< As a program of the user's was seen to launch it.
    Evaluated,
    Guessed,
};

/// A concrete launch of a kernel.
struct LaunchSpec {
    LaunchOrigin origin = LaunchOrigin::Guessed;
    std::string kernel;                         ///< Qualified name.
    std::vector<std::string> templateArguments; ///< Empty for a plain kernel.
    Dim3 grid;
    Dim3 block;
    std::uint64_t dynamicSharedBytes = 0;
    std::vector<ArgumentSpec> arguments; ///< One per parameter, in order.
    std::vector<SymbolSpec> symbols;
    std::vector<std::string> notes; ///< How each number was found, one sentence each.
};

struct Limits {
    std::chrono::milliseconds time{10'000}; ///< Of a run; on the emulator, processor time.
    std::uint64_t memoryBytes = 2ull << 30; ///< Of the child process.
    std::uint64_t outputBytes = 1ull << 20; ///< Of printf.
    std::uint64_t accesses =
        2'000'000'000; ///< Counted memory accesses after which a run is cut off.
};

struct Job {
    LaunchSpec launch;
    std::uint64_t seed = 1;
    bool wantProfile = false; ///< Count accesses, branches, conflicts.
    bool wantHazards =
        true; ///< Look for races, out-of-bounds, uninitialised reads, divergence of barriers.
    bool wantOutputs = false; ///< Return the contents of buffers marked isOutput.
    std::optional<std::uint64_t>
        maxBlocks; ///< Run at most so many blocks, corners included; counts are then scaled.
    Limits limits;
};

} // namespace kernelskill::engine
