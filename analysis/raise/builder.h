/// Builds raised programs from tensors that are functions.
#pragma once

#include "analysis/raise/program.h"
#include "analysis/raise/tensor.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {

/// One reduction over axes of a tensor.
struct ReductionOf {
    Reducer reducer = Reducer::Sum;
    Tensor tensor; ///< All that are reduced at once have the same shape.
    ScalarKind type = ScalarKind::Float;
};

class Builder {
public:
    /// Names the nodes of the graph whose work the next computations do; the last one is the node
    /// of library calls.
    void setSources(std::vector<std::string> nodes) { sources_ = std::move(nodes); }
    /// Says whether the next computations store their results in channels-last order, as far as
    /// these have one (channels_last.h). The tensors that are returned have their axes as before.
    void setChannelsLast(bool isChannelsLast) { isChannelsLast_ = isChannelsLast; }

    /// A buffer that the program is given, as a tensor.
    [[nodiscard]] Tensor input(const std::string& name, ScalarKind element,
                               std::vector<Index> shape, Buffer::Role role,
                               const std::string& source);
    /// Writes the tensor to a buffer of its own, as a map; returns the buffer as a tensor. A tensor
    /// that is a whole buffer already is returned as it is, unless it is to be an output. An output
    /// is never in channels-last order.
    [[nodiscard]] Tensor kept(const Tensor& tensor, const std::string& name,
                              Buffer::Role role = Buffer::Role::Local);
    /// Hands the tensor to the caller: by the buffer that it is the whole of, if the program
    /// computes that, else by a copy.
    [[nodiscard]] BufferId output(const Tensor& tensor, const std::string& name);
    /// Reduces `axes` (in rising order); they are left out of the results' shape, or kept with an
    /// extent of 1. All reductions are one computation.
    [[nodiscard]] std::vector<Tensor> reduced(const std::vector<ReductionOf>& reductions,
                                              const std::vector<std::size_t>& axes, bool keepsAxes,
                                              const std::string& name);
    [[nodiscard]] Tensor reduced(Reducer reducer, const Tensor& tensor,
                                 const std::vector<std::size_t>& axes, bool keepsAxes,
                                 const std::string& name);
    /// The sums, over axes of the given extents, of what `element` makes of a position of the
    /// result and one of these axes: contractions and windows.
    [[nodiscard]] Tensor
    reducedBy(Reducer reducer, ScalarKind element, const std::vector<Index>& shape,
              const std::vector<std::pair<std::string, Index>>& axes,
              const std::function<Scalar(const std::vector<Index>& position,
                                         const std::vector<Index>& reduced)>& of,
              const std::string& name);
    /// The reduction of all elements up to each along an axis.
    [[nodiscard]] Tensor scanned(Reducer reducer, const Tensor& tensor, std::size_t axis,
                                 const std::string& name);
    /// Leaves a node to a library: its inputs are written to buffers, its results are buffers; all
    /// that have a channels-last order in that one, if the last argument says so.
    [[nodiscard]] std::vector<Tensor> library(const std::string& reason,
                                              const std::vector<Tensor>& inputs,
                                              const std::vector<Tensor>& resultTypes,
                                              const std::string& name, bool isChannelsLast);

    /// How far the program has been built.
    struct Mark {
        std::size_t steps = 0;
        std::size_t buffers = 0;
    };
    [[nodiscard]] Mark mark() const { return {program_.steps.size(), program_.buffers.size()}; }
    /// Drops what was built since. No tensor of it may be used any more.
    void dropBehind(Mark mark) {
        program_.steps.resize(mark.steps);
        program_.buffers.resize(mark.buffers);
    }

    /// How much it takes to compute an element again: operations, and loads that are no plain reads
    /// of a buffer at the element's own place.
    [[nodiscard]] std::size_t costOf(const Tensor& tensor);
    [[nodiscard]] const Program& program() const { return program_; }
    [[nodiscard]] Program take() { return std::move(program_); }

private:
    [[nodiscard]] std::vector<Axis> axesOf(const std::vector<Index>& shape,
                                           const std::string& prefix);
    [[nodiscard]] Axis axis(const std::string& name, const Index& extent);
    BufferId addBuffer(const std::string& name, ScalarKind element, std::vector<Index> shape,
                       Buffer::Role role, const std::string& source);
    [[nodiscard]] Tensor tensorOfBuffer(BufferId buffer) const;
    /// The buffer that the tensor is the whole of.
    [[nodiscard]] std::optional<BufferId> bufferOf(const Tensor& tensor);
    /// `name` as an identifier that is not in `names` yet.
    [[nodiscard]] static std::string fresh(const std::string& name,
                                           std::map<std::string, std::size_t>& names);
    void add(Computation computation);
    /// Has the computation store a result in the order of its axes.
    [[nodiscard]] BufferId addStore(Computation& computation, const std::string& name,
                                    ScalarKind element, Buffer::Role role, Scalar value);

    Program program_;
    std::vector<std::string> sources_;
    bool isChannelsLast_ = false;
    std::map<std::string, std::size_t> names_; ///< How often computations asked for each name.
    std::map<std::string, std::size_t> bufferNames_;
};

} // namespace kernelskill::analysis::raise
