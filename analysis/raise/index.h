/// Indices say which element of a tensor is meant: integers over axes, sizes and constants, in a
/// normal form.
///
/// An index is a polynomial over atoms: axes, sizes that are known only when the program runs,
/// quotients, remainders, and integers that are read from tensors. Equal indices that the rules
/// here see as equal have the same text. Divisors are positive; quotients are rounded down. An
/// axis without elements leads to a divisor of 0: quotient and remainder are 0 then.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {

class Index;
struct ScalarNode;
using Scalar = std::shared_ptr<const ScalarNode>;

/// A loop over 0, 1, ... extent - 1.
struct Axis {
    std::uint32_t id = 0; ///< Unique in a program.
    std::string name;     ///< "n"; for people.
    std::shared_ptr<const Index> extent;
};

/// The integers from `low` to `high`, both included; nullopt: no bound.
struct Bounds {
    std::optional<std::int64_t> low;
    std::optional<std::int64_t> high;
};

class Index {
public:
    struct Atom {
        enum class Kind : std::uint8_t { Axis, Size, Quotient, Remainder, Data };
        Kind kind = Kind::Axis;
        std::string key = {};                         ///< Unique: equal atoms have equal keys.
        Axis axis = {};                               ///< Set for an Axis.
        std::string name = {};                        ///< Set for a Size: "s77".
        Bounds bounds = {};                           ///< Set for a Size and for Data.
        std::shared_ptr<const Index> left = nullptr;  ///< The dividend of a Quotient or Remainder.
        std::shared_ptr<const Index> right = nullptr; ///< Its divisor.
        Scalar data = nullptr;                        ///< Set for Data: an integer that is read.
    };
    using AtomRef = std::shared_ptr<const Atom>;
    /// A product of atoms, sorted by their keys, times a factor.
    struct Monomial {
        std::vector<AtomRef> atoms;
        std::int64_t factor = 1;
    };

    Index() = default;
    // An extent is written as a number.
    Index(std::int64_t constant); // NOLINT(google-explicit-constructor)
    [[nodiscard]] static Index of(const Axis& axis);
    /// A size that is known when the program runs, of at least `low`.
    [[nodiscard]] static Index size(const std::string& name, std::int64_t low = 0,
                                    std::optional<std::int64_t> high = std::nullopt);
    /// The value of an integer scalar, e.g. a class's number that a tensor holds.
    [[nodiscard]] static Index data(Scalar value, Bounds bounds);

    [[nodiscard]] std::optional<std::int64_t> constant() const;
    [[nodiscard]] bool isZero() const { return monomials_.empty(); }
    [[nodiscard]] Bounds bounds() const;
    /// Sorted by their atoms.
    [[nodiscard]] std::vector<Monomial> monomials() const;
    /// The same by the texts of their atoms, without a copy.
    [[nodiscard]] const std::map<std::string, Monomial>& terms() const { return monomials_; }
    /// The index with other indices for axes, by their ids; scalars in it likewise.
    [[nodiscard]] Index substituted(const std::map<std::uint32_t, Index>& axes) const;
    /// Whether the axis stands anywhere in it.
    [[nodiscard]] bool mentions(std::uint32_t axis) const;
    /// Whether it depends on an integer that is read.
    [[nodiscard]] bool readsData() const;
    /// "4*n + i / 3": equal texts are equal indices.
    [[nodiscard]] std::string text() const;

    bool operator==(const Index& other) const { return text() == other.text(); }
    friend Index operator+(const Index& left, const Index& right);
    friend Index operator-(const Index& left, const Index& right);
    friend Index operator*(const Index& left, const Index& right);

    [[nodiscard]] static Index of(Atom atom);
    [[nodiscard]] static Index of(AtomRef atom);

private:
    /// A monomial by the text of its atoms.
    std::map<std::string, Monomial> monomials_;
    void add(Monomial monomial);
};

[[nodiscard]] Index quotient(const Index& left, const Index& right);
[[nodiscard]] Index remainder(const Index& left, const Index& right);
/// Whether `index` is known to be at least 0 and less than `bound`.
[[nodiscard]] bool isWithin(const Index& index, const Index& bound);

/// Whether neighbours along the axis are neighbours of the index: it is the axis plus what does not
/// mention it.
[[nodiscard]] bool goesAlong(const Index& index, const Axis& axis);

/// The same index with d * (x / d) + x % d as x.
[[nodiscard]] Index joined(const Index& index);

/// The index of an element in an array of that shape whose last axis is the innermost.
[[nodiscard]] Index flattened(const std::vector<Index>& position, const std::vector<Index>& shape);
/// The position of the element with that index; the inverse of flattened().
[[nodiscard]] std::vector<Index> unflattened(const Index& index, const std::vector<Index>& shape);
[[nodiscard]] std::vector<Index> extentsOf(const std::vector<Axis>& axes);
/// The number of elements.
[[nodiscard]] Index elementsOf(const std::vector<Index>& shape);

} // namespace kernelskill::analysis::raise
