#include "analysis/raise/index.h"

#include "analysis/raise/scalar.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

std::string keyOf(const std::vector<Index::AtomRef>& atoms) {
    std::string key;
    for (const Index::AtomRef& atom : atoms)
        key += (key.empty() ? "" : "*") + atom->key;
    return key;
}

std::optional<std::int64_t> product(std::optional<std::int64_t> left,
                                    std::optional<std::int64_t> right) {
    std::int64_t result = 0;
    if (!left || !right || __builtin_mul_overflow(*left, *right, &result))
        return std::nullopt;
    return result;
}

std::optional<std::int64_t> sum(std::optional<std::int64_t> left,
                                std::optional<std::int64_t> right) {
    std::int64_t result = 0;
    if (!left || !right || __builtin_add_overflow(*left, *right, &result))
        return std::nullopt;
    return result;
}

/// Returns the bounds of a product from those of its factors.
Bounds productOf(const Bounds& left, const Bounds& right) {
    if (left.low && left.low == left.high && *left.low == 0)
        return {0, 0};
    const bool isNatural = left.low && *left.low >= 0 && right.low && *right.low >= 0;
    if (isNatural)
        return {product(left.low, right.low), product(left.high, right.high)};
    if (left.low && left.low == left.high) // One bound of the other factor may be missing.
        return *left.low > 0 ? Bounds{product(left.low, right.low), product(left.low, right.high)}
                             : Bounds{product(left.low, right.high), product(left.low, right.low)};
    const auto ends = {product(left.low, right.low), product(left.low, right.high),
                       product(left.high, right.low), product(left.high, right.high)};
    if (std::ranges::any_of(ends, [](const auto& end) { return !end; }))
        return {};
    return {std::ranges::min(ends), std::ranges::max(ends)};
}

Bounds boundsOf(const Index::Atom& atom) {
    switch (atom.kind) {
    case Index::Atom::Kind::Axis: {
        const auto high = atom.axis.extent->bounds().high;
        return {0, high ? std::optional(std::max<std::int64_t>(*high - 1, 0)) : std::nullopt};
    }
    case Index::Atom::Kind::Size:
    case Index::Atom::Kind::Data:
        return atom.bounds;
    case Index::Atom::Kind::Quotient: {
        const Bounds of = atom.left->bounds();
        const auto by = atom.right->constant();
        const auto divided = [&](std::optional<std::int64_t> value) {
            if (!value || !by)
                return std::optional<std::int64_t>();
            return std::optional(*value / *by - (*value % *by < 0 ? 1 : 0));
        };
        if (by)
            return {divided(of.low), divided(of.high)};
        if (of.low && *of.low >= 0)
            return {0, of.high};
        return {};
    }
    case Index::Atom::Kind::Remainder: {
        const auto high = atom.right->bounds().high;
        return {0, high ? std::optional(*high - 1) : std::nullopt};
    }
    }
    return {};
}

/// `monomial` divided by `by`, which is one monomial; nullopt if it is no multiple.
std::optional<Index::Monomial> dividedBy(const Index::Monomial& monomial,
                                         const Index::Monomial& by) {
    if (by.factor == 0 || monomial.factor % by.factor != 0)
        return std::nullopt;
    Index::Monomial rest{monomial.atoms, monomial.factor / by.factor};
    for (const Index::AtomRef& atom : by.atoms) {
        const auto at =
            std::ranges::find(rest.atoms, atom->key, [](const auto& each) { return each->key; });
        if (at == rest.atoms.end())
            return std::nullopt;
        rest.atoms.erase(at);
    }
    return rest;
}

} // namespace

Index::Index(std::int64_t constant) {
    add({{}, constant});
}

Index Index::of(Atom atom) {
    return of(std::make_shared<const Atom>(std::move(atom)));
}

Index Index::of(AtomRef atom) {
    Index index;
    index.add({{std::move(atom)}, 1});
    return index;
}

Index Index::of(const Axis& axis) {
    if (axis.extent->constant() == 1)
        return 0;
    Atom atom{.kind = Atom::Kind::Axis, .key = fmt::format("{}#{}", axis.name, axis.id)};
    atom.axis = axis;
    return of(std::move(atom));
}

Index Index::size(const std::string& name, std::int64_t low, std::optional<std::int64_t> high) {
    if (high && low == *high)
        return low;
    Atom atom{.kind = Atom::Kind::Size, .key = name};
    atom.name = name;
    atom.bounds = {low, high};
    return of(std::move(atom));
}

Index Index::data(Scalar value, Bounds bounds) {
    Atom atom{.kind = Atom::Kind::Data, .key = fmt::format("[{}]", textOf(value))};
    atom.bounds = bounds;
    atom.data = std::move(value);
    return of(std::move(atom));
}

void Index::add(Monomial monomial) {
    if (monomial.factor == 0)
        return;
    const std::string key = keyOf(monomial.atoms);
    const auto [at, isNew] = monomials_.try_emplace(key, monomial);
    if (isNew)
        return;
    at->second.factor += monomial.factor;
    if (at->second.factor == 0)
        monomials_.erase(at);
}

std::optional<std::int64_t> Index::constant() const {
    if (monomials_.empty())
        return 0;
    const auto& [key, first] = *monomials_.begin();
    return monomials_.size() == 1 && first.atoms.empty() ? std::optional(first.factor)
                                                         : std::nullopt;
}

std::vector<Index::Monomial> Index::monomials() const {
    std::vector<Monomial> all;
    for (const auto& [key, monomial] : monomials_)
        all.push_back(monomial);
    return all;
}

Bounds Index::bounds() const {
    Bounds all{0, 0};
    for (const auto& [key, monomial] : monomials_) {
        Bounds one{monomial.factor, monomial.factor};
        for (const AtomRef& atom : monomial.atoms)
            one = productOf(one, boundsOf(*atom));
        all = {sum(all.low, one.low), sum(all.high, one.high)};
    }
    return all;
}

bool Index::mentions(std::uint32_t axis) const {
    return std::ranges::any_of(monomials_, [&](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [&](const AtomRef& atom) {
            switch (atom->kind) {
            case Atom::Kind::Axis:
                return atom->axis.id == axis;
            case Atom::Kind::Size:
                return false;
            case Atom::Kind::Quotient:
            case Atom::Kind::Remainder:
                return atom->left->mentions(axis) || atom->right->mentions(axis);
            case Atom::Kind::Data:
                return raise::mentions(atom->data, axis);
            }
            return false;
        });
    });
}

bool Index::readsData() const {
    return std::ranges::any_of(monomials_, [](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [](const AtomRef& atom) {
            return atom->kind == Atom::Kind::Data ||
                   (atom->left != nullptr && (atom->left->readsData() || atom->right->readsData()));
        });
    });
}

Index Index::substituted(const std::map<std::uint32_t, Index>& axes) const {
    const auto valueOf = [&](const AtomRef& atom) -> Index {
        switch (atom->kind) {
        case Atom::Kind::Axis:
            if (const auto given = axes.find(atom->axis.id); given != axes.end())
                return given->second;
            break;
        case Atom::Kind::Size:
            break;
        case Atom::Kind::Quotient:
            return quotient(atom->left->substituted(axes), atom->right->substituted(axes));
        case Atom::Kind::Remainder:
            return remainder(atom->left->substituted(axes), atom->right->substituted(axes));
        case Atom::Kind::Data:
            return data(raise::substituted(atom->data, axes), atom->bounds);
        }
        return of(atom);
    };
    Index result;
    for (const auto& [key, monomial] : monomials_) {
        Index value = monomial.factor;
        for (const AtomRef& atom : monomial.atoms)
            value = value * valueOf(atom);
        result = result + value;
    }
    return result;
}

std::string Index::text() const {
    std::string text;
    for (const auto& [key, monomial] : monomials_) {
        const std::int64_t factor = text.empty() ? monomial.factor : std::abs(monomial.factor);
        if (!text.empty())
            text += monomial.factor < 0 ? " - " : " + ";
        if (key.empty())
            text += std::to_string(factor);
        else if (factor == 1)
            text += key;
        else
            text += fmt::format("{}*{}", factor, key);
    }
    return text.empty() ? "0" : text;
}

Index operator+(const Index& left, const Index& right) {
    Index result = left;
    for (const auto& [key, monomial] : right.monomials_)
        result.add(monomial);
    return result;
}

Index operator-(const Index& left, const Index& right) {
    return left + right * Index(-1);
}

Index operator*(const Index& left, const Index& right) {
    Index result;
    for (const auto& [leftKey, one] : left.monomials_)
        for (const auto& [rightKey, other] : right.monomials_) {
            Index::Monomial both{one.atoms, one.factor * other.factor};
            both.atoms.insert(both.atoms.end(), other.atoms.begin(), other.atoms.end());
            std::ranges::sort(both.atoms, {}, [](const auto& atom) { return atom->key; });
            result.add(std::move(both));
        }
    return result;
}

bool isWithin(const Index& index, const Index& bound) {
    const Bounds of = index.bounds();
    const Bounds by = bound.bounds();
    if (of.low && *of.low >= 0 && of.high && by.low && *of.high < *by.low)
        return true;
    // A size that is not known: an axis with that extent, or a remainder by it.
    const auto parts = index.monomials();
    if (parts.size() != 1 || parts[0].factor != 1 || parts[0].atoms.size() != 1)
        return index.isZero() && by.low && *by.low > 0;
    const Index::Atom& atom = *parts[0].atoms[0];
    return (atom.kind == Index::Atom::Kind::Axis && *atom.axis.extent == bound) ||
           (atom.kind == Index::Atom::Kind::Remainder && *atom.right == bound);
}

bool goesAlong(const Index& index, const Axis& axis) {
    return !(index - Index::of(axis)).mentions(axis.id);
}

namespace {

/// left = right * multiple + rest, with what is a multiple term by term.
struct Division {
    Index multiple;
    Index rest;
};

Index indexOf(const Index::Monomial& monomial) {
    Index result = monomial.factor;
    for (const Index::AtomRef& atom : monomial.atoms)
        result = result * Index::of(atom);
    return result;
}

Division divide(const Index& left, const Index& right) {
    const auto by = right.monomials();
    Division division;
    for (const Index::Monomial& monomial : left.monomials()) {
        const auto divided = by.size() == 1 ? dividedBy(monomial, by[0]) : std::nullopt;
        if (divided)
            division.multiple = division.multiple + indexOf(*divided);
        else
            division.rest = division.rest + indexOf(monomial);
    }
    return division;
}

/// A factor of `right` and of some terms of `left` that is more than what the others come to:
/// (4*i + j) / 8 is i / 2 if j < 4.
struct CommonFactor {
    std::int64_t factor;
    Index scaled; ///< Divided by the factor.
    Index small;  ///< At least 0 and less than the factor.
};

std::optional<CommonFactor> commonFactor(const Index& left, std::int64_t right) {
    for (const Index::Monomial& monomial : left.monomials()) {
        const std::int64_t factor = std::gcd(right, monomial.factor);
        if (factor < 2)
            continue;
        const Division parts = divide(left, factor);
        if (isWithin(parts.rest, factor))
            return CommonFactor{factor, parts.multiple, parts.rest};
    }
    return std::nullopt;
}

} // namespace

Index quotient(const Index& left, const Index& right) {
    if (right.constant() == 1)
        return left;
    if (right.isZero()) // Of an axis without elements: it has no position.
        return 0;
    const Division parts = divide(left, right);
    if (isWithin(parts.rest, right))
        return parts.multiple;
    const auto by = right.constant();
    if (const auto value = parts.rest.constant(); value && by)
        return parts.multiple + Index(*value / *by - (*value % *by < 0 ? 1 : 0));
    if (by)
        if (const auto common = commonFactor(parts.rest, *by))
            return parts.multiple + quotient(common->scaled, *by / common->factor);
    // A quotient of a quotient.
    const auto terms = parts.rest.monomials();
    if (terms.size() == 1 && terms[0].factor == 1 && terms[0].atoms.size() == 1 &&
        terms[0].atoms[0]->kind == Index::Atom::Kind::Quotient)
        return parts.multiple +
               quotient(*terms[0].atoms[0]->left, *terms[0].atoms[0]->right * right);
    Index::Atom atom{.kind = Index::Atom::Kind::Quotient,
                     .key = fmt::format("(({})/({}))", parts.rest.text(), right.text())};
    atom.left = std::make_shared<const Index>(parts.rest);
    atom.right = std::make_shared<const Index>(right);
    return parts.multiple + Index::of(std::move(atom));
}

Index remainder(const Index& left, const Index& right) {
    if (right.constant() == 1 || right.isZero())
        return 0;
    const Index rest = divide(left, right).rest;
    if (isWithin(rest, right))
        return rest;
    const auto by = right.constant();
    if (const auto value = rest.constant(); value && by)
        return ((*value % *by) + *by) % *by;
    if (by)
        if (const auto common = commonFactor(rest, *by))
            return Index(common->factor) * remainder(common->scaled, *by / common->factor) +
                   common->small;
    // A remainder of a remainder by a multiple.
    const auto terms = rest.monomials();
    if (terms.size() == 1 && terms[0].factor == 1 && terms[0].atoms.size() == 1 &&
        terms[0].atoms[0]->kind == Index::Atom::Kind::Remainder &&
        divide(*terms[0].atoms[0]->right, right).rest.isZero())
        return remainder(*terms[0].atoms[0]->left, right);
    Index::Atom atom{.kind = Index::Atom::Kind::Remainder,
                     .key = fmt::format("(({})%({}))", rest.text(), right.text())};
    atom.left = std::make_shared<const Index>(rest);
    atom.right = std::make_shared<const Index>(right);
    return Index::of(std::move(atom));
}

namespace {

/// Counts the quotients and remainders in the index, nested ones too.
std::size_t cutsIn(const Index& index) {
    std::size_t cuts = 0;
    for (const Index::Monomial& monomial : index.monomials())
        for (const Index::AtomRef& atom : monomial.atoms)
            if (atom->left != nullptr)
                cuts += 1 + cutsIn(*atom->left) + cutsIn(*atom->right);
    return cuts;
}

/// d * (x / d) + x % d is x, also times what else.
std::optional<Index> joinedOnce(const Index& index) {
    for (const Index::Monomial& monomial : index.monomials())
        for (std::size_t i = 0; i < monomial.atoms.size(); ++i) {
            const Index::Atom& atom = *monomial.atoms[i];
            if (atom.kind != Index::Atom::Kind::Remainder)
                continue;
            Index::Monomial others = monomial;
            others.atoms.erase(others.atoms.begin() + static_cast<std::ptrdiff_t>(i));
            const Index times = indexOf(others);
            const Index whole = quotient(*atom.left, *atom.right) * *atom.right * times;
            const Index once = index - whole - indexOf(monomial) + *atom.left * times;
            // Both are gone, and x stands in their place.
            const std::size_t terms = index.monomials().size() + atom.left->monomials().size();
            if (once.monomials().size() + 2 <= terms && cutsIn(once) < cutsIn(index))
                return once;
        }
    return std::nullopt;
}

} // namespace

Index joined(const Index& index) {
    Index result = index;
    while (const auto once = joinedOnce(result))
        result = *once;
    return result;
}

Index flattened(const std::vector<Index>& position, const std::vector<Index>& shape) {
    Index index;
    for (std::size_t i = 0; i < position.size(); ++i)
        index = index * shape[i] + position[i];
    return joined(index);
}

std::vector<Index> unflattened(const Index& index, const std::vector<Index>& shape) {
    std::vector<Index> position(shape.size());
    Index left = index;
    for (std::size_t i = shape.size(); i-- > 0;) {
        position[i] = i == 0 ? left : remainder(left, shape[i]);
        left = quotient(left, shape[i]);
    }
    return position;
}

std::vector<Index> extentsOf(const std::vector<Axis>& axes) {
    std::vector<Index> extents;
    for (const Axis& axis : axes)
        extents.push_back(*axis.extent);
    return extents;
}

Index elementsOf(const std::vector<Index>& shape) {
    Index elements = 1;
    for (const Index& extent : shape)
        elements = elements * extent;
    return elements;
}

} // namespace kernelskill::analysis::raise
