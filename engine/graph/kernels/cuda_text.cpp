#include "engine/graph/kernels/cuda_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Function;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::Reducer;
using analysis::raise::Scalar;
using analysis::raise::ScalarNode;

/// How tightly the operator of an expression binds.
enum class Binding : std::uint8_t { Condition, And, Comparison, Sum, Product, Unary, Primary };

struct Text {
    std::string text;
    Binding binding = Binding::Primary;
};

std::string within(const Text& text, Binding least) {
    return text.binding < least ? "(" + text.text + ")" : text.text;
}

bool isHalf(ScalarKind type) {
    return type == ScalarKind::Half || type == ScalarKind::BFloat16;
}

bool mayBeNegative(const Index& index) {
    const auto low = index.bounds().low;
    return !low || *low < 0;
}

bool mentionsSize(const Index& index) {
    return std::ranges::any_of(index.terms(), [](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [](const Index::AtomRef& atom) {
            return atom->kind == Index::Atom::Kind::Size ||
                   (atom->left != nullptr &&
                    (mentionsSize(*atom->left) || mentionsSize(*atom->right)));
        });
    });
}

bool isBelowLimit(const std::vector<Index>& shape) {
    const auto high = analysis::raise::elementsOf(shape).bounds().high;
    return high && *high < (std::int64_t{1} << 31);
}

/// The function of C's library; empty for operators.
std::string_view mathFunction(Function function) {
    switch (function) {
    case Function::Absolute:
        return "fabs";
    case Function::Exponential:
        return "exp";
    case Function::ExponentialMinusOne:
        return "expm1";
    case Function::Logarithm:
        return "log";
    case Function::LogarithmOfOnePlus:
        return "log1p";
    case Function::SquareRoot:
        return "sqrt";
    case Function::ReciprocalSquareRoot:
        return "rsqrt";
    case Function::Tanh:
        return "tanh";
    case Function::ErrorFunction:
        return "erf";
    case Function::Power:
        return "pow";
    default:
        return "";
    }
}

} // namespace

std::string_view spelling(IndexWidth width) {
    return width == IndexWidth::Bits32 ? "int" : "long long";
}

IndexWidth indexWidthOf(const Program& program, const Computation& computation) {
    std::set<BufferId> buffers;
    const auto read = [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Load)
            buffers.insert(node.buffer);
    };
    for (const analysis::raise::Reduction& reduction : computation.reductions)
        forEachNode(reduction.element, read);
    for (const analysis::raise::Store& store : computation.stores) {
        buffers.insert(store.buffer);
        forEachNode(store.value, read);
    }
    const bool isSmall = std::ranges::all_of(
        buffers, [&](BufferId buffer) { return isBelowLimit(program.buffers.at(buffer).shape); });
    return isSmall && isBelowLimit(analysis::raise::extentsOf(computation.axes)) &&
                   isBelowLimit(analysis::raise::extentsOf(computation.reduced))
               ? IndexWidth::Bits32
               : IndexWidth::Bits64;
}

CudaText CudaText::ofHost(const Program& program) {
    CudaText text(program, IndexWidth::Bits64);
    text.isOfHost_ = true;
    return text;
}

std::string CudaText::roundedDown(const Index::Atom& atom) {
    const bool isQuotient = atom.kind == Index::Atom::Kind::Quotient;
    const std::string left = index(*atom.left, isOfHost_);
    const std::string right = index(*atom.right, isOfHost_);
    if (isOfHost_)
        return isQuotient
                   ? fmt::format("({0} >= 0 ? {0} / {1} : -(({1} - 1 - {0}) / {1}))", left, right)
                   : fmt::format("(({0} % {1} + {1}) % {1})", left, right);
    // Sizes are wider than other 32-bit indices, and numbers narrower than 64-bit ones.
    const bool isWide =
        width_ == IndexWidth::Bits64 || mentionsSize(*atom.left) || mentionsSize(*atom.right);
    return fmt::format("{}{}({}, {})", helper(isQuotient ? "floorDivide" : "floorModulo"),
                       isWide ? "<long long>" : "", left, right);
}

std::string CudaText::helper(std::string name) {
    helpers_.insert(name);
    return name;
}

std::string CudaText::atom(const Index::Atom& atom) {
    switch (atom.kind) {
    case Index::Atom::Kind::Axis:
        if (const auto name = axes_.find(atom.axis.id); name != axes_.end())
            return name->second;
        return atom.axis.name;
    case Index::Atom::Kind::Size:
        return atom.name;
    case Index::Atom::Kind::Quotient:
    case Index::Atom::Kind::Remainder: {
        const bool isQuotient = atom.kind == Index::Atom::Kind::Quotient;
        if (mayBeNegative(*atom.left))
            return roundedDown(atom);
        return fmt::format("({} {} {})", index(*atom.left, true), isQuotient ? "/" : "%",
                           index(*atom.right, true));
    }
    case Index::Atom::Kind::Data:
        return fmt::format("static_cast<{}>({})", spelling(width_), value(atom.data));
    }
    return "0";
}

std::string CudaText::index(const Index& index, bool isFactor) {
    const auto& terms = index.terms();
    if (terms.empty())
        return "0";
    // Constants come last, and a term that is added first.
    std::vector<const Index::Monomial*> ordered;
    for (const auto& [key, term] : terms)
        ordered.push_back(&term);
    std::ranges::stable_sort(ordered, {}, [](const Index::Monomial* term) {
        return std::tuple(term->atoms.empty(), term->factor < 0,
                          term->factor < 0 ? term->factor : -term->factor);
    });
    std::string text;
    for (const Index::Monomial* term : ordered) {
        std::string product;
        const std::int64_t factor = text.empty() ? term->factor : std::abs(term->factor);
        const bool needsWidth =
            width_ == IndexWidth::Bits64 || std::abs(factor) >= (std::int64_t{1} << 31);
        if (factor != 1 || term->atoms.empty())
            product =
                factor == -1 && !term->atoms.empty()
                    ? "-"
                    : fmt::format("{}{}", factor,
                                  needsWidth && std::abs(factor) >= (std::int64_t{1} << 31) ? "LL"
                                                                                            : "");
        for (const Index::AtomRef& part : term->atoms)
            product += (product.empty() || product == "-" ? "" : " * ") + atom(*part);
        text += text.empty() ? product : (term->factor < 0 ? " - " : " + ") + product;
    }
    const bool isSimple =
        terms.size() == 1 &&
        (ordered[0]->atoms.empty() || (ordered[0]->atoms.size() == 1 && ordered[0]->factor == 1));
    return isFactor && !isSimple ? "(" + text + ")" : text;
}

std::string CudaText::element(BufferId buffer, const std::vector<Index>& position) {
    const Buffer& array = program_->buffers.at(buffer);
    return fmt::format("{}[{}]", array.name,
                       index(analysis::raise::flattened(position, array.shape)));
}

std::string computedText(ScalarKind element, const std::string& text) {
    switch (element) {
    case ScalarKind::Half:
        return fmt::format("__half2float({})", text);
    case ScalarKind::BFloat16:
        return fmt::format("__bfloat162float({})", text);
    default:
        return text;
    }
}

std::string CudaText::load(const ScalarNode& node) {
    return computedText(node.type, element(node.buffer, node.position));
}

/// Writes scalars: first numbers equal parts, then decides which of them get names.
class CudaText::Writing {
public:
    enum class Names : std::uint8_t { Given, None };
    explicit Writing(CudaText& text, Names names = Names::Given) : text_(text), names_(names) {}

    Values run(const std::vector<Scalar>& scalars) {
        std::vector<std::size_t> roots;
        for (const Scalar& scalar : scalars) {
            const std::size_t root = number(scalar);
            roots.push_back(root);
            use(root, false);
        }
        Values result;
        for (const std::size_t root : roots)
            result.values.push_back(textOf(root).text);
        result.statements = std::move(statements_);
        return result;
    }

private:
    struct Part {
        const ScalarNode* node = nullptr;
        std::vector<std::size_t> arguments;
        std::size_t uses = 0;
        bool isEager = false;     ///< It stands outside of the branches of all selects.
        bool readsMemory = false; ///< Itself or one of its arguments does.
        std::optional<Text> text;
    };

    std::size_t number(const Scalar& scalar) {
        if (const auto known = numbers_.find(scalar.get()); known != numbers_.end())
            return known->second;
        Part part;
        part.node = scalar.get();
        std::string key =
            fmt::format("{} {}", static_cast<int>(scalar->kind), static_cast<int>(scalar->type));
        for (const Scalar& argument : scalar->arguments) {
            part.arguments.push_back(number(argument));
            key += fmt::format(" {}", part.arguments.back());
            part.readsMemory = part.readsMemory || parts_[part.arguments.back()].readsMemory;
        }
        if (scalar->kind == ScalarNode::Kind::Call)
            key += fmt::format(" {}", static_cast<int>(scalar->function));
        else if (scalar->arguments.empty())
            key += analysis::raise::textOf(scalar);
        part.readsMemory =
            part.readsMemory || scalar->kind == ScalarNode::Kind::Load || scalar->index.readsData();
        const auto [at, isNew] = byKey_.try_emplace(key, parts_.size());
        if (isNew)
            parts_.push_back(std::move(part));
        numbers_[scalar.get()] = at->second;
        return at->second;
    }

    void use(std::size_t number, bool isGuarded) {
        Part& part = parts_[number];
        ++part.uses;
        const bool wasEager = part.isEager;
        part.isEager = part.isEager || !isGuarded;
        if (part.uses > 1 && wasEager == part.isEager)
            return;
        const bool isSelect = part.node->kind == ScalarNode::Kind::Select;
        const std::vector<std::size_t> arguments = part.arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i)
            use(arguments[i], isGuarded || (isSelect && i > 0));
    }

    /// Whether it can be computed before the statement that it stands in.
    bool isHoistable(std::size_t number) const {
        const Part& part = parts_[number];
        if (part.isEager || !part.readsMemory)
            return true;
        return part.node->kind != ScalarNode::Kind::Load && !part.node->index.readsData() &&
               std::ranges::all_of(part.arguments,
                                   [&](std::size_t each) { return isHoistable(each); });
    }

    Text textOf(std::size_t number) {
        if (parts_[number].text)
            return *parts_[number].text;
        Text text = written(number);
        Part& part = parts_[number];
        constexpr std::size_t longest = 80;
        const bool isLeaf = part.node->kind == ScalarNode::Kind::Number ||
                            part.node->kind == ScalarNode::Kind::Position ||
                            part.node->kind == ScalarNode::Kind::Accumulated;
        const bool isIdentifier = text.text.find_first_of(" ([") == std::string::npos;
        if (names_ == Names::Given && !isLeaf && !isIdentifier &&
            (part.uses > 1 || text.text.size() > longest) && isHoistable(number)) {
            const std::string name = fmt::format("t{}", text_.constants_++);
            statements_.push_back(fmt::format(
                "const {} {} = {};", analysis::raise::spelling(computedType(part.node->type)), name,
                text.text));
            text = {name};
        }
        part.text = text;
        return text;
    }

    Text written(std::size_t number) {
        const ScalarNode& node = *parts_[number].node;
        switch (node.kind) {
        case ScalarNode::Kind::Number: {
            const std::string text = numberText(node.type, node);
            return {text, text.starts_with('-') ? Binding::Unary : Binding::Primary};
        }
        case ScalarNode::Kind::Position:
            return {fmt::format("static_cast<{}>({})",
                                analysis::raise::spelling(computedType(node.type)),
                                text_.index(node.index))};
        case ScalarNode::Kind::Load:
        case ScalarNode::Kind::Accumulated:
            if (text_.leaf_)
                if (const auto text = text_.leaf_(node))
                    return {*text};
            return {node.kind == ScalarNode::Kind::Load ? text_.load(node)
                                                        : fmt::format("acc{}", node.reduction)};
        case ScalarNode::Kind::Select: {
            const std::vector<std::size_t> arguments = parts_[number].arguments;
            const Text condition = textOf(arguments[0]);
            const Text then = textOf(arguments[1]);
            const Text otherwise = textOf(arguments[2]);
            return {fmt::format("{} ? {} : {}", within(condition, Binding::And),
                                within(then, Binding::And), within(otherwise, Binding::And)),
                    Binding::Condition};
        }
        case ScalarNode::Kind::Call:
            return called(number);
        }
        return {"0"};
    }

    /// An operand of a comparison: an index needs no conversion there.
    Text compared(std::size_t number) {
        const ScalarNode& node = *parts_[number].node;
        if (node.kind == ScalarNode::Kind::Position && !analysis::raise::isFloating(node.type))
            return {text_.index(node.index), Binding::Sum};
        return textOf(number);
    }

    Text binary(std::size_t number, std::string_view sign, Binding binding) {
        const std::vector<std::size_t> arguments = parts_[number].arguments;
        const bool compares = binding == Binding::Comparison;
        const Text left = compares ? compared(arguments[0]) : textOf(arguments[0]);
        const Text right = compares ? compared(arguments[1]) : textOf(arguments[1]);
        const auto above = static_cast<Binding>(static_cast<int>(binding) + 1);
        return {fmt::format("{} {} {}", within(left, compares ? above : binding), sign,
                            within(right, above)),
                binding};
    }

    Text called(std::size_t number) {
        const ScalarNode& node = *parts_[number].node;
        switch (node.function) {
        case Function::Add:
            return binary(number, "+", Binding::Sum);
        case Function::Subtract:
            return binary(number, "-", Binding::Sum);
        case Function::Multiply:
            return binary(number, "*", Binding::Product);
        case Function::Divide:
            return binary(number, "/", Binding::Product);
        case Function::Less:
            return binary(number, "<", Binding::Comparison);
        case Function::LessOrEqual:
            return binary(number, "<=", Binding::Comparison);
        case Function::Equal:
            return binary(number, "==", Binding::Comparison);
        case Function::And:
            return binary(number, "&&", Binding::And);
        case Function::Not:
            return {"!" + within(textOf(parts_[number].arguments[0]), Binding::Unary),
                    Binding::Unary};
        case Function::Convert: {
            const ScalarKind from = computedType(node.arguments[0]->type);
            if (const auto value = analysis::raise::numberOf(node.arguments[0]);
                value && node.type == ScalarKind::Float)
                return {numberText(node.type, *node.arguments[0])};
            if (!isHalf(node.type) && from == node.type)
                return textOf(parts_[number].arguments[0]);
            break;
        }
        case Function::Negate:
            return {"-" + within(textOf(parts_[number].arguments[0]), Binding::Primary),
                    Binding::Unary};
        default:
            break;
        }
        const std::vector<std::size_t> arguments = parts_[number].arguments;
        std::vector<std::string> texts;
        for (const std::size_t argument : arguments)
            texts.push_back(textOf(argument).text);
        return {text_.call(node, texts)};
    }

    CudaText& text_;
    Names names_;
    std::vector<Part> parts_;
    std::map<const ScalarNode*, std::size_t> numbers_;
    std::map<std::string, std::size_t> byKey_;
    std::vector<std::string> statements_;
};

std::string CudaText::call(const ScalarNode& node, const std::vector<std::string>& arguments) {
    const ScalarKind type = computedType(node.type);
    switch (node.function) {
    case Function::Minimum:
    case Function::Maximum: {
        const bool isMaximum = node.function == Function::Maximum;
        // Positions may have fewer bits than the type says, and min(long long, int) is ambiguous.
        if (!analysis::raise::isFloating(type))
            return fmt::format("{}(static_cast<{}>({}), static_cast<{}>({}))",
                               isMaximum ? "max" : "min", analysis::raise::spelling(type),
                               arguments[0], analysis::raise::spelling(type), arguments[1]);
        // A bound that is a number is no NaN.
        const auto bound = analysis::raise::numberOf(node.arguments[1]);
        const std::string name = bound && !std::isnan(*bound) ? (isMaximum ? "atLeast" : "atMost")
                                                              : (isMaximum ? "larger" : "smaller");
        return fmt::format("{}({}, {})", helper(name), arguments[0], arguments[1]);
    }
    case Function::Convert: {
        if (node.type == ScalarKind::Half)
            return fmt::format("__half2float(__float2half_rn({}))", arguments[0]);
        if (node.type == ScalarKind::BFloat16)
            return fmt::format("__bfloat162float(__float2bfloat16_rn({}))", arguments[0]);
        return fmt::format("static_cast<{}>({})", analysis::raise::spelling(type), arguments[0]);
    }
    case Function::Absolute:
        if (!analysis::raise::isFloating(type))
            return fmt::format("{}({})", type == ScalarKind::Int64 ? "llabs" : "abs", arguments[0]);
        break;
    default:
        break;
    }
    std::string list;
    for (const std::string& argument : arguments)
        list += (list.empty() ? "" : ", ") + argument;
    return fmt::format("{}{}({})", mathFunction(node.function),
                       type == ScalarKind::Float ? "f" : "", list);
}

CudaText::Values CudaText::values(const std::vector<Scalar>& scalars) {
    return Writing(*this).run(scalars);
}

std::string CudaText::value(const Scalar& scalar) {
    return Writing(*this, Writing::Names::None).run({scalar}).values[0];
}

std::string CudaText::stored(BufferId buffer, const std::string& value) {
    switch (program_->buffers.at(buffer).element) {
    case ScalarKind::Half:
        return fmt::format("__float2half_rn({})", value);
    case ScalarKind::BFloat16:
        return fmt::format("__float2bfloat16_rn({})", value);
    default:
        return value;
    }
}

std::string CudaText::combined(Reducer reducer, ScalarKind type, const std::string& soFar,
                               const std::string& value) {
    const auto has = [&](std::string_view sign) { return value.find(sign) != std::string::npos; };
    const bool isSum = has(" + ") || has(" - ") || has(" ? ");
    switch (reducer) {
    case Reducer::Sum:
        return fmt::format("{} + {}", soFar, isSum ? "(" + value + ")" : value);
    case Reducer::Product:
        return fmt::format("{} * {}", soFar, has(" ") ? "(" + value + ")" : value);
    case Reducer::Maximum:
    case Reducer::Minimum: {
        const bool isMaximum = reducer == Reducer::Maximum;
        if (!analysis::raise::isFloating(computedType(type)))
            return fmt::format("{}({}, {})", isMaximum ? "max" : "min", soFar, value);
        return fmt::format("{}({}, {})", helper(isMaximum ? "larger" : "smaller"), soFar, value);
    }
    default:
        return value;
    }
}

} // namespace kernelskill::engine::graph
