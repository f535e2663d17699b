/// A job for an executor, as data: the kernel's launch, its inputs, and what to report.
#pragma once

#include "analysis/model/kernel_model.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
    Poison,   ///< A pattern that no computation leaves by chance; for outputs.
    Captured, ///< The bytes that a program passed, see BufferSpec::captured.
    Chosen,   ///< Values that are likely to tell two kernels apart, see BufferSpec::choice.
};

/// A mixture of given values and random ones that use the whole mantissa.
struct ValueChoice {
    /// Converted to the element's type. Integers drop what is no integer or exceeds the range.
    std::vector<double> values;
    double share = 0.5; ///< The part of the elements that have one of `values`.
    /// Magnitudes of the other elements: from 2^minExponent up to 2^maxExponent, of both signs.
    int minExponent = -8;
    int maxExponent = 8;
    /// Every value is one of float, also for double: for a float64 reference of a kernel in float.
    bool isFloat = false;
    bool operator==(const ValueChoice&) const = default;
};

/// The contents of a buffer of a captured launch, as files on this machine.
struct CapturedBytes {
    std::string before; ///< Absolute path of the contents before the launch.
    /// Absolute path of the contents after the launch; empty if they were not saved. Executors do
    /// not get it.
    std::string after;
    /// The element type of the files. Floats are converted if the buffer's elements are doubles.
    analysis::ScalarKind element = analysis::ScalarKind::Float;
    bool operator==(const CapturedBytes&) const = default;
};

struct BufferSpec {
    std::string name; ///< The parameter's name.
    analysis::ScalarKind element = analysis::ScalarKind::Float;
    std::uint32_t elementBytes = 4;        ///< sizeof of the pointee (16 for float4*).
    std::optional<std::uint64_t> elements; ///< nullopt: a run over sparse memory finds the length.
    /// The min length that a run may find, from the limit of a search or an allocation whose size
    /// is partly guessed: a search that ends early does not show how much may be read.
    std::uint64_t minElements = 0;
    Fill fill = Fill::Random;
    double value = 0; ///< Of Constant. An element of Iota is its index times 1 + `value`.
    std::int64_t integerRange =
        0;                 ///< For Random integers; 0: 256, or the element's range if smaller.
    bool isOutput = false; ///< Compared after the run.
    bool isInput = true;   ///< If true, filled by `fill`; else poisoned.
    std::optional<CapturedBytes> captured; ///< Only for Captured.
    std::optional<ValueChoice> choice;     ///< Only for Chosen.
    /// Every value that is made up is one of this type, although the elements are doubles: for a
    /// float64 reference of a kernel in 16 bits.
    std::optional<analysis::ScalarKind> valuesOf = {};
    /// The name of another buffer: the emulator passes its address, and this buffer is not used.
    /// Empty for a buffer of its own.
    std::string sameAs = {};
    /// The address that the kernel gets lies so many elements behind a multiple of 256 bytes.
    std::uint32_t shift = 0;
    bool operator==(const BufferSpec&) const = default;
};

/// Whether `fill` makes values up, which nothing in the program states.
[[nodiscard]] inline bool isMadeUp(Fill fill) {
    return fill == Fill::Random || fill == Fill::Chosen;
}

/// A by-value argument, as the bytes that the kernel's ABI expects.
struct ScalarSpec {
    std::string name;
    std::vector<std::byte> bytes;
    std::optional<std::int64_t>
        integer; ///< Its value when integral, for display and shape changes.
    std::optional<double> floating;
};

using ArgumentSpec = std::variant<BufferSpec, ScalarSpec>;

/// The initial value of a `__device__` or `__constant__` variable that the program's text does not
/// initialise, because the host copies to it or another kernel writes it.
struct SymbolSpec {
    std::string name;              ///< Without namespaces.
    Fill fill = Fill::Random;      ///< Follows the variable's type. Chosen: Random for integers.
    double value = 0;              ///< Only for Constant.
    std::int64_t integerRange = 0; ///< Only for Random integers; 0: a small range.
    std::optional<ValueChoice> choice = {}; ///< Only for Chosen.
    bool isFilled = true;  ///< If false, it begins with what the program's text gives it.
    bool isOutput = false; ///< Compared after the run, if all blocks run.
};

/// The origin of a launch. Shown to users, who can then pin it.
enum class LaunchOrigin : std::uint8_t {
    Pinned,
    Captured, ///< As a program of the user launched it.
    Evaluated,
    Guessed,
};
/// "pinned", "captured", "evaluated", "guessed"
[[nodiscard]] std::string_view spelling(LaunchOrigin origin);

/// A concrete launch of a kernel.
struct LaunchSpec {
    LaunchOrigin origin = LaunchOrigin::Guessed;
    /// Grid and block follow from the kernel's own indices, because no launch of it can be
    /// evaluated. False for a guess that only chose sizes which a launch in the text depends on.
    bool isShapeGuessed = false;
    /// Host code sizes the grid by the device, which is another one here than where it runs.
    bool isGridOfDevice = false;
    /// The grid as the text has it follows from numbers that the text does not tell: those of
    /// earlier assignments stand for them.
    bool isGridStandIn = false;
    std::string kernel;                         ///< Qualified name.
    std::vector<std::string> templateArguments; ///< Empty if the kernel is no template.
    Dim3 grid;
    /// The grid that the host's code asks for, where `grid` was guessed larger; see paired().
    std::optional<Dim3> statedGrid;
    Dim3 block;
    std::uint64_t dynamicSharedBytes = 0;
    std::vector<ArgumentSpec> arguments; ///< One per parameter, in order.
    std::vector<SymbolSpec> symbols;
    std::vector<std::string> notes; ///< How each number was found, one sentence each.
    /// The integers that the instance of the kernel is for, by the parameter's name: the value of a
    /// template parameter of that name, or the only value for which the host launches the instance.
    std::map<std::string, std::int64_t> madeFor = {};
};

struct Limits {
    /// Time limit of a run. On the emulator, processor time.
    std::chrono::milliseconds time{10'000};
    std::uint64_t memoryBytes = 2ull << 30; ///< Memory limit of the child process.
    std::uint64_t outputBytes = 1ull << 20; ///< Limit of what printf writes.
    /// A run is cut off after so many counted memory accesses.
    std::uint64_t accesses = 2'000'000'000;
};

/// The order in which the emulator runs what a GPU runs at once. Every one is possible on a GPU.
struct Schedule {
    /// The order of blocks, of the warps of a block and of the lanes of a warp.
    enum class Order : std::uint8_t { Forward, Reverse, Random };
    Order order = Order::Forward;
    std::uint64_t seed = 1; ///< For Random, and for where threads are interrupted.
    /// Threads are interrupted before about one in so many accesses, and others run, also of other
    /// blocks; 0: never.
    std::uint32_t interruption = 0;
    bool operator==(const Schedule&) const = default;
};

struct Job {
    LaunchSpec launch;
    std::uint64_t seed = 1;
    bool wantProfile = false; ///< Count accesses, branches and bank conflicts.
    /// Look for races, out-of-bounds accesses, uninitialised reads and divergent barriers.
    bool wantHazards = true;
    /// Also suspect what much code does and most of it gets away with: threads that wait for others
    /// by an atomic or volatile read without a fence after it, volatile accesses that nothing
    /// orders, and barriers that some threads of a block have left without.
    bool wantTolerated = false;
    bool wantOutputs = false; ///< Return the contents of buffers marked isOutput.
    /// Run at most so many blocks, corners included, and scale the counts. If not all run, outputs
    /// are the parts that were written, each a buffer "y[4096..]", and need wantHazards.
    std::optional<std::uint64_t> maxBlocks;
    /// Only for the emulator. Counts of a profile need the order Forward without interruptions.
    Schedule schedule;
    Limits limits;
};

} // namespace kernelskill::engine
