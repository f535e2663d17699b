/// Fixes calls and launches whose arguments are missing, too many, in the wrong order or of the
/// wrong kind.
#include "engine/repair/compile_fixes/edit_distance.h"
#include "engine/repair/compile_fixes/function_tokens.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::Diagnostic;
using analysis::Span;
using analysis::TokenKind;

/// How well an argument's name matches a parameter: `d_out` matches `out`.
int fit(std::string_view argument, const DeclaredName& parameter) {
    std::string one = inLowerCase(argument);
    std::string other = inLowerCase(parameter.name);
    if (one == other)
        return 7;
    bool isPart = one.find(other) != std::string::npos || other.find(one) != std::string::npos;
    if (isPart && std::min(one.size(), other.size()) > 1)
        return 4;
    // For example d_idata and g_idata.
    std::size_t common = 0;
    while (common < std::min(one.size(), other.size()) &&
           one[one.size() - 1 - common] == other[other.size() - 1 - common])
        ++common;
    constexpr std::size_t minEndingLength = 3;
    constexpr std::size_t maxEndingLength = 5;
    if (common >= minEndingLength)
        return static_cast<int>(std::min(common, maxEndingLength));
    return !one.empty() && !other.empty() && one.front() == other.front() ? 1 : 0;
}

int fit(const std::vector<std::string>& arguments, const FunctionTokens& function) {
    int sum = 0;
    for (std::size_t number = 0; number < std::min(arguments.size(), function.parameters.size());
         ++number)
        sum += fit(arguments[number], function.parameters[number]);
    return sum;
}

std::vector<std::string> argumentTexts(const RepairContext& context, const CallText& call) {
    std::vector<std::string> texts;
    for (TokenRange argument : call.arguments)
        texts.emplace_back(textOf(context, argument));
    return texts;
}

/// A candidate with its rank.
struct Proposal {
    int rank = 0; ///< Higher is likelier.
    FixCandidate candidate;
};

void take(std::vector<Proposal> proposals, std::vector<FixCandidate>& candidates) {
    constexpr std::size_t maxProposals = 14;
    std::ranges::stable_sort(proposals, std::greater{}, &Proposal::rank);
    if (proposals.size() > maxProposals)
        proposals.resize(maxProposals);
    for (Proposal& proposal : proposals)
        candidates.push_back(std::move(proposal.candidate));
}

/// The argument with the comma that separates it from its neighbour.
Span spanWithComma(const RepairContext& context, const CallText& call, std::size_t number) {
    Span own = spanOf(context, call.arguments[number]);
    if (number + 1 < call.arguments.size())
        return {own.begin, spanOf(context, call.arguments[number + 1]).begin};
    if (number > 0)
        return {spanOf(context, call.arguments[number - 1]).end, own.end};
    return own;
}

void addRemovals(const RepairContext& context, const CallText& call, const FunctionTokens& function,
                 std::vector<FixCandidate>& candidates) {
    if (call.arguments.size() <= function.parameters.size())
        return;
    std::vector<Proposal> proposals;
    const std::vector<std::string> texts = argumentTexts(context, call);
    for (std::size_t number = 0; number < texts.size(); ++number) {
        std::vector<std::string> left = texts;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(number));
        bool isTwice = std::ranges::count(texts, texts[number]) > 1;
        proposals.push_back({fit(left, function) + (isTwice ? 8 : 0),
                             {"surplus-argument",
                              fmt::format("remove the argument '{}'", texts[number]),
                              {{spanWithComma(context, call, number), ""}}}});
    }
    take(std::move(proposals), candidates);
}

/// Guesses for the missing argument: variables of the caller, and arguments of other calls.
void addInsertions(const RepairContext& context, const CallText& call,
                   const FunctionTokens& function, std::vector<FixCandidate>& candidates) {
    if (call.arguments.size() + 1 != function.parameters.size())
        return;
    const std::vector<std::string> texts = argumentTexts(context, call);
    std::uint32_t offset = context.tokens[call.name].span.begin;
    std::vector<DeclaredName> names;
    if (auto caller = functionAround(context, offset))
        names = namesBefore(context, *caller, offset);
    // A launch passes variables with names similar to the kernel's; device code passes computed
    // values.
    const bool isLaunch = !call.configuration.isEmpty();
    constexpr int likeness = 4;
    std::vector<Proposal> proposals;
    for (std::size_t number = 0; number < function.parameters.size(); ++number) {
        const DeclaredName& parameter = function.parameters[number];
        std::uint32_t place = number < call.arguments.size()
                                  ? spanOf(context, call.arguments[number]).begin
                                  : context.tokens[call.close].span.begin;
        auto propose = [&](const std::string& value, int rank) {
            std::vector<std::string> whole = texts;
            whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(number), value);
            bool isTwice = std::ranges::count(whole, value) > 1;
            std::string inserted = number < call.arguments.size() ? value + ", "
                                   : call.arguments.empty()       ? value
                                                                  : ", " + value;
            proposals.push_back(
                {fit(whole, function) + rank - (isTwice ? 6 : 0),
                 insertion("missing-argument", place, inserted,
                           fmt::format("pass '{}' for '{}'", value, parameter.name))});
        };
        for (const DeclaredName& name : names)
            if (name.isPointer == parameter.isPointer &&
                (isLaunch || fit(name.name, parameter) >= likeness))
                propose(name.name, 0);
        for (std::size_t token = 0; token < context.tokens.size(); ++token) {
            bool isSame = context.textAt(token) == context.textAt(call.name) && token != call.name;
            auto other = isSame ? callAt(context, token) : std::nullopt;
            if (other && other->arguments.size() == function.parameters.size() &&
                token != function.name && !other->configuration.isEmpty())
                propose(std::string(textOf(context, other->arguments[number])), 1);
        }
    }
    take(std::move(proposals), candidates);
}

void addSwaps(const RepairContext& context, const CallText& call, const FunctionTokens& function,
              std::vector<FixCandidate>& candidates) {
    if (call.arguments.size() != function.parameters.size())
        return;
    const std::vector<std::string> texts = argumentTexts(context, call);
    int before = fit(texts, function);
    std::vector<Proposal> proposals;
    for (std::size_t one = 0; one < texts.size(); ++one)
        for (std::size_t other = one + 1; other < texts.size(); ++other) {
            if (texts[one] == texts[other])
                continue;
            std::vector<std::string> whole = texts;
            std::swap(whole[one], whole[other]);
            int gain = fit(whole, function) - before;
            bool areNeighbours = other == one + 1;
            proposals.push_back({2 * gain + (areNeighbours ? 3 : 0),
                                 {"argument-order",
                                  fmt::format("swap '{}' and '{}'", texts[one], texts[other]),
                                  {{spanOf(context, call.arguments[one]), texts[other]},
                                   {spanOf(context, call.arguments[other]), texts[one]}}}});
        }
    take(std::move(proposals), candidates);
}

/// Replaces `&x` and `*x` by x.
void addOperatorRemovals(const RepairContext& context, const CallText& call,
                         std::vector<FixCandidate>& candidates) {
    for (TokenRange argument : call.arguments) {
        std::string_view first = context.textAt(argument.begin);
        if ((first == "&" || first == "*") && argument.end > argument.begin + 1)
            candidates.push_back({"argument-kind",
                                  fmt::format("remove '{}'", first),
                                  {{context.tokens[argument.begin].span, ""}}});
    }
}

/// Adds the address operator for atomics and allocations.
void addAddress(const RepairContext& context, const CallText& call,
                std::vector<FixCandidate>& candidates) {
    std::string_view callee = context.textAt(call.name);
    bool wantsAddress = callee.starts_with("atomic") || callee.starts_with("cuda");
    if (!wantsAddress || call.arguments.empty() || context.textAt(call.arguments[0].begin) == "&")
        return;
    candidates.push_back(
        insertion("argument-kind", spanOf(context, call.arguments[0]).begin, "&",
                  fmt::format("pass the address: '&{}'", textOf(context, call.arguments[0]))));
}

/// Adds the direction of a copy, from what was allocated on the device. If the text does not tell,
/// the runtime finds it.
void addDirection(const RepairContext& context, const CallText& call,
                  std::vector<FixCandidate>& candidates) {
    std::string_view callee = context.textAt(call.name);
    bool isCopy = callee == "cudaMemcpy" || callee == "cudaMemcpyAsync";
    if (!isCopy || call.arguments.size() != 3)
        return;
    auto isOfDevice = [&](TokenRange argument) {
        for (std::size_t index = 0; index + 2 < context.tokens.size(); ++index)
            for (std::size_t word = argument.begin; word < argument.end; ++word)
                if (context.textAt(index).starts_with("cudaMalloc") &&
                    context.textAt(index) != "cudaMallocHost" && context.textAt(word) != "&" &&
                    context.tokens[word].kind == TokenKind::Identifier)
                    for (std::size_t near = index + 2; near < index + 9; ++near) {
                        if (context.textAt(near) == ",")
                            break;
                        if (context.textAt(near) == context.textAt(word))
                            return true;
                    }
        return false;
    };
    bool isTo = isOfDevice(call.arguments[0]);
    bool isFrom = isOfDevice(call.arguments[1]);
    std::string_view direction = isTo && isFrom ? "cudaMemcpyDeviceToDevice"
                                 : isTo         ? "cudaMemcpyHostToDevice"
                                 : isFrom       ? "cudaMemcpyDeviceToHost"
                                                : "cudaMemcpyDefault";
    candidates.push_back(insertion("missing-argument", spanOf(context, call.arguments[2]).end,
                                   fmt::format(", {}", direction),
                                   fmt::format("pass '{}'", direction)));
}

/// Adds the mask of a warp operation, which is the first argument.
void addMask(const RepairContext& context, const CallText& call,
             std::vector<FixCandidate>& candidates) {
    std::string_view callee = context.textAt(call.name);
    if (!callee.starts_with("__") || !callee.ends_with("_sync") || call.arguments.empty())
        return;
    // The mask that the file uses elsewhere, else the whole warp.
    std::string mask = "0xffffffff";
    for (std::size_t token = 0; token < context.tokens.size(); ++token) {
        auto other = token != call.name && context.textAt(token).starts_with("__") &&
                             context.textAt(token).ends_with("_sync")
                         ? callAt(context, token)
                         : std::nullopt;
        bool isFull = other && other->arguments.size() > call.arguments.size();
        bool isConstant =
            isFull && context.tokens[other->arguments[0].begin].kind == TokenKind::Number;
        if (isConstant)
            mask = textOf(context, other->arguments[0]);
    }
    candidates.push_back(insertion("missing-mask", spanOf(context, call.arguments[0]).begin,
                                   mask + ", ", fmt::format("insert the mask '{}'", mask)));
}

bool concernsArguments(const std::string& message) {
    static constexpr std::array<std::string_view, 11> beginnings{
        "no matching function for call",
        "too few arguments to function call",
        "too many arguments to function call",
        "cannot initialize a parameter",
        "cannot take the address of an rvalue",
        "indirection requires pointer operand",
        "no viable conversion",
        "call to '",
        "reference to type",
        "no matching",
        "binding reference"};
    return std::ranges::any_of(
        beginnings, [&](std::string_view beginning) { return message.starts_with(beginning); });
}

} // namespace

std::vector<FixCandidate> argumentFixes(const RepairContext& context, const Diagnostic& error) {
    std::vector<FixCandidate> candidates;
    if (!concernsArguments(error.message))
        return candidates;
    constexpr std::size_t maxCallsLooked = 3;
    std::size_t looked = 0;
    for (const CallText& call : callsAround(context, error.span.begin)) {
        if (++looked > maxCallsLooked)
            break;
        addMask(context, call, candidates);
        addAddress(context, call, candidates);
        addDirection(context, call, candidates);
        addOperatorRemovals(context, call, candidates);
        for (const FunctionTokens& function : functionsNamed(context, context.textAt(call.name))) {
            addRemovals(context, call, function, candidates);
            addInsertions(context, call, function, candidates);
            addSwaps(context, call, function, candidates);
            break; // Other declarations agree.
        }
    }
    return candidates;
}

} // namespace kernelskill::engine
