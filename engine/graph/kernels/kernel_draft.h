/// Writes the parts of a kernel that all schedules share: parameters, loops, the kernel's head.
#pragma once

#include "engine/graph/kernels/cuda_text.h"
#include "engine/graph/kernels/kernel.h"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// Lines of code, indented by the blocks that they stand in.
class CodeLines {
public:
    explicit CodeLines(std::size_t depth = 1) : depth_(depth) {}
    void add(const std::string& line);
    void addAll(const std::vector<std::string>& lines);
    /// "for (...) {", and what follows is one deeper.
    void open(const std::string& head);
    void close(const std::string& tail = "}");
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::size_t depth_;
    std::string text_;
};

/// A kernel with its name, sources and parameters: the buffers that the computations read and
/// write, and the sizes that they name, those of `more` included.
[[nodiscard]] Kernel draftOf(const analysis::raise::Program& program,
                             std::span<const analysis::raise::Computation> computations,
                             const std::vector<analysis::raise::Index>& more = {});

/// The kernel's definition from its body: "__global__ void __launch_bounds__(256) x_kernel(...)".
/// `before` comes first: types and constants of this kernel alone. The number of threads is set.
/// Threads take no more registers than let a multiprocessor hold so many blocks; 0: any.
[[nodiscard]] std::string definitionText(const analysis::raise::Program& program,
                                         const Kernel& kernel, const std::string& body,
                                         const std::string& before = "", int blocks = 0);
/// value / by, rounded up.
[[nodiscard]] analysis::raise::Index roundedUpQuotient(const analysis::raise::Index& value,
                                                       std::int64_t by);

/// A number of blocks or elements as an expression of the host, in `long long`.
[[nodiscard]] std::string hostText(const analysis::raise::Index& index);

/// The helper that combines two values of a reduction which finds no place: "Sum".
[[nodiscard]] std::string_view functorOf(analysis::raise::Reducer reducer);

/// Loops over all of the axes, the last one innermost; their names are bound.
void openLoops(CodeLines& lines, CudaText& text, const std::vector<analysis::raise::Axis>& axes);
void closeLoops(CodeLines& lines, const std::vector<analysis::raise::Axis>& axes);

/// Declares each axis as its part of the element number `number`, and binds it.
void declareAxes(CodeLines& lines, CudaText& text, const std::vector<analysis::raise::Axis>& axes,
                 const std::string& number);

/// Computes all values, then stores them.
void addStores(CodeLines& lines, CudaText& text, const std::vector<analysis::raise::Store>& stores);

/// `wanted`, or with a number behind it where another one has that name. It is taken then.
[[nodiscard]] std::string freshName(const std::string& wanted, std::set<std::string>& taken);
/// The names of the kernel's parameters, and those that all schedules use.
[[nodiscard]] std::set<std::string> namesOf(const analysis::raise::Program& program,
                                            const Kernel& kernel);

/// An identifier for each axis: its name, with a number where another one has it.
void bindNames(CudaText& text, const std::vector<analysis::raise::Axis>& axes,
               std::set<std::string>& taken);

} // namespace kernelskill::engine::graph
