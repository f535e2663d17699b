/// Indices and scalars of raised programs as text of CUDA C++.
#pragma once

#include "analysis/raise/program.h"
#include "engine/graph/kernels/number_text.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// The type of index arithmetic.
enum class IndexWidth : std::uint8_t { Bits32, Bits64 };
/// "int".
[[nodiscard]] std::string_view spelling(IndexWidth width);
/// Bits32 if no buffer that the computation reads or writes can have 2^31 elements or more, and
/// neither can its axes, together or the reduced ones.
[[nodiscard]] IndexWidth indexWidthOf(const analysis::raise::Program& program,
                                      const analysis::raise::Computation& computation);

/// The text of an element of the type as what is computed with: halves become float.
[[nodiscard]] std::string computedText(ScalarKind element, const std::string& text);

/// Writes expressions. What they stand on has names: axes by bind(), buffers and sizes their own.
class CudaText {
public:
    CudaText(const analysis::raise::Program& program, IndexWidth width)
        : program_(&program), width_(width) {}
    /// Text for the host, of 64 bits, that calls no device function.
    [[nodiscard]] static CudaText ofHost(const analysis::raise::Program& program);

    /// The text of an axis: an identifier, a number or an expression in parentheses.
    void bind(std::uint32_t axis, std::string text) { axes_[axis] = std::move(text); }

    /// The text for a Load or Accumulated; nullopt: the element of the buffer at its position. An
    /// Accumulated needs one.
    using Leaf = std::function<std::optional<std::string>(const analysis::raise::ScalarNode&)>;
    void setLeaf(Leaf leaf) { leaf_ = std::move(leaf); }

    /// An expression that binds like a sum; `index()` in parentheses where `isFactor`.
    [[nodiscard]] std::string index(const analysis::raise::Index& index, bool isFactor = false);
    /// "x[512 * i + k]".
    [[nodiscard]] std::string element(analysis::raise::BufferId buffer,
                                      const std::vector<analysis::raise::Index>& position);

    /// Values, and the statements that come before them: constants for what stands in several
    /// places outside of the branches of a select.
    struct Values {
        std::vector<std::string> statements; ///< "const float t0 = x[i] - mean[0];"
        std::vector<std::string> values;     ///< An expression for each scalar.
    };
    [[nodiscard]] Values values(const std::vector<analysis::raise::Scalar>& scalars);
    /// Writes one expression. A part that stands in several places is repeated.
    [[nodiscard]] std::string value(const analysis::raise::Scalar& scalar);
    /// The value as an element of the buffer's type, for a store.
    [[nodiscard]] std::string stored(analysis::raise::BufferId buffer, const std::string& value);

    /// Combines a reduction's result so far with one more value; names of FirstMaximum and
    /// FirstMinimum are handled by the schedule.
    [[nodiscard]] std::string combined(analysis::raise::Reducer reducer, ScalarKind type,
                                       const std::string& soFar, const std::string& value);
    /// The device functions that the text so far calls (device_helpers.h).
    [[nodiscard]] const std::set<std::string>& helpers() const { return helpers_; }
    [[nodiscard]] const analysis::raise::Program& program() const { return *program_; }
    [[nodiscard]] IndexWidth width() const { return width_; }

private:
    class Writing;
    [[nodiscard]] std::string atom(const analysis::raise::Index::Atom& atom);
    [[nodiscard]] std::string load(const analysis::raise::ScalarNode& node);
    [[nodiscard]] std::string call(const analysis::raise::ScalarNode& node,
                                   const std::vector<std::string>& arguments);
    [[nodiscard]] std::string helper(std::string name);
    /// A quotient or remainder whose dividend may be negative.
    [[nodiscard]] std::string roundedDown(const analysis::raise::Index::Atom& atom);

    const analysis::raise::Program* program_;
    IndexWidth width_;
    bool isOfHost_ = false;
    std::map<std::uint32_t, std::string> axes_;
    Leaf leaf_;
    std::set<std::string> helpers_;
    std::size_t constants_ = 0; ///< Constants that have been named.
};

} // namespace kernelskill::engine::graph
