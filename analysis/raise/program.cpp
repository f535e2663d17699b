#include "analysis/raise/program.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>

namespace kernelskill::analysis::raise {

namespace {

/// The loads that stand in the product of two factors; empty if it is none of two that load.
struct Factors {
    std::vector<const ScalarNode*> left;
    std::vector<const ScalarNode*> right;
};

std::vector<const ScalarNode*> loadsOf(const Scalar& value) {
    std::vector<const ScalarNode*> loads;
    forEachNode(value, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::Load)
            loads.push_back(&node);
    });
    return loads;
}

bool reads(const std::vector<const ScalarNode*>& loads, std::uint32_t axis) {
    return std::ranges::any_of(loads, [&](const ScalarNode* load) {
        return std::ranges::any_of(load->position,
                                   [&](const Index& at) { return at.mentions(axis); });
    });
}

/// Whether both factors of a product run over a reduced axis, and some axis of the result is of one
/// of them alone.
bool isContraction(const Computation& computation) {
    if (computation.reductions.size() != 1 || computation.reductions[0].reducer != Reducer::Sum ||
        computation.reduced.empty())
        return false;
    const Scalar& element = computation.reductions[0].element;
    if (element->kind != ScalarNode::Kind::Call || element->function != Function::Multiply)
        return false;
    const Factors factors{loadsOf(element->arguments[0]), loadsOf(element->arguments[1])};
    const auto isShared = [&](const Axis& axis) {
        return reads(factors.left, axis.id) && reads(factors.right, axis.id);
    };
    const auto isOfOne = [&](const Axis& axis) {
        return reads(factors.left, axis.id) != reads(factors.right, axis.id);
    };
    return !factors.left.empty() && !factors.right.empty() &&
           std::ranges::any_of(computation.reduced, isShared) &&
           std::ranges::any_of(computation.axes, isOfOne);
}

/// Whether a load runs over an axis of the result and a reduced one together.
bool isWindow(const Computation& computation) {
    return std::ranges::any_of(computation.reductions, [&](const Reduction& reduction) {
        return std::ranges::any_of(loadsOf(reduction.element), [&](const ScalarNode* load) {
            return std::ranges::any_of(load->position, [&](const Index& at) {
                const auto runs = [&](const Axis& axis) { return at.mentions(axis.id); };
                return std::ranges::any_of(computation.axes, runs) &&
                       std::ranges::any_of(computation.reduced, runs);
            });
        });
    });
}

bool gathers(const Computation& computation) {
    return std::ranges::any_of(computation.stores, [&](const Store& store) {
        return std::ranges::any_of(loadsOf(store.value), [&](const ScalarNode* load) {
            return std::ranges::any_of(load->position, &Index::readsData);
        });
    });
}

std::string listed(const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis& axis : axes)
        text += fmt::format("{}{}#{}<{}", text.empty() ? "" : ", ", axis.name, axis.id,
                            axis.extent->text());
    return text;
}

std::string listed(const std::vector<Index>& indices) {
    std::string text;
    for (const Index& index : indices)
        text += (text.empty() ? "" : ", ") + index.text();
    return text;
}

/// Replaces the numbers of buffers by their names, and drops the numbers of axes.
std::string readable(const std::string& text, const Program& program) {
    const auto isDigit = [&](std::size_t at) {
        return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    const auto isPartOfWord = [&](std::size_t at) {
        return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    };
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i + 1;
        while (isDigit(end))
            ++end;
        const bool isNumbered = end > i + 1;
        const bool isBuffer = isNumbered && text[i] == 'b' && end < text.size() &&
                              text[end] == '[' && (i == 0 || !isPartOfWord(i - 1));
        if (isBuffer)
            result += program.buffers.at(std::stoul(text.substr(i + 1, end - i - 1))).name;
        else if (!isNumbered || text[i] != '#')
            result += text.substr(i, end - i);
        i = end;
    }
    return result;
}

std::string textOf(const Computation& computation) {
    std::string text = fmt::format("{} {} for [{}]", nameOf(formOf(computation)), computation.name,
                                   listed(computation.axes));
    if (!computation.reduced.empty())
        text += fmt::format(" over [{}]", listed(computation.reduced));
    if (computation.scanned)
        text += fmt::format(" along {}", computation.axes[*computation.scanned].name);
    text += "\n";
    for (std::size_t i = 0; i < computation.reductions.size(); ++i) {
        const Reduction& reduction = computation.reductions[i];
        text += fmt::format("    acc{} = {} {}\n", i, nameOf(reduction.reducer),
                            textOf(reduction.element));
    }
    for (const Store& store : computation.stores)
        text += fmt::format("    b{}[{}] = {}\n", store.buffer, listed(store.position),
                            textOf(store.value));
    return text;
}

} // namespace

bool findsPlace(Reducer reducer) {
    return reducer == Reducer::FirstMaximum || reducer == Reducer::FirstMinimum;
}

std::string freshBufferName(const Program& program, const std::string& wanted) {
    std::string name = wanted;
    for (std::size_t i = 2;
         std::ranges::find(program.buffers, name, &Buffer::name) != program.buffers.end(); ++i)
        name = fmt::format("{}_{}", wanted, i);
    return name;
}

std::string_view nameOf(Reducer reducer) {
    constexpr std::array<std::string_view, 6> names = {"sum", "product", "max",
                                                       "min", "argmax",  "argmin"};
    return names.at(static_cast<std::size_t>(reducer));
}

std::string_view nameOf(Form form) {
    constexpr std::array<std::string_view, 6> names = {"map",    "reduction", "contraction",
                                                       "window", "scan",      "gather"};
    return names.at(static_cast<std::size_t>(form));
}

Form formOf(const Computation& computation) {
    if (computation.scanned)
        return Form::Scan;
    if (computation.reduced.empty())
        return gathers(computation) ? Form::Gather : Form::Map;
    if (isContraction(computation))
        return Form::Contraction;
    return isWindow(computation) ? Form::Window : Form::Reduction;
}

std::string textOf(const Program& program) {
    constexpr std::array<std::string_view, 4> roles = {"input", "weight", "local", "output"};
    std::string text;
    for (const Buffer& buffer : program.buffers)
        text += fmt::format("{} {} {}[{}]\n", roles.at(static_cast<std::size_t>(buffer.role)),
                            spelling(buffer.element), buffer.name, listed(buffer.shape));
    for (const Step& step : program.steps) {
        if (const auto* computation = std::get_if<Computation>(&step)) {
            text += readable(textOf(*computation), program);
            continue;
        }
        const auto& work = std::get<LibraryCall>(step);
        text += fmt::format("library {}: {}{}\n", work.node, work.reason,
                            work.isChannelsLast ? ", in channels-last order" : "");
    }
    return text;
}

} // namespace kernelskill::analysis::raise
