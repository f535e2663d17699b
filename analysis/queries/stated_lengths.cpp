#include "analysis/queries/stated_lengths.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace kernelskill::analysis {

namespace {

/// The max length of a chain of variables that are initialised by each other. It also ends one that
/// is initialised by itself.
constexpr int maxNames = 8;

/// A function of the CUDA runtime that is given an array and the size of all or of a part of it.
struct SizedCall {
    std::string_view name;
    std::size_t pointers; ///< The arguments that may be the array: the first ones.
    std::size_t bytes;    ///< The argument that tells its size.
    bool allocates;       ///< It is given the pointer's address.
};
constexpr std::array<SizedCall, 7> sizedCalls{{
    {"cudaMalloc", 1, 1, true},
    {"cudaMallocManaged", 1, 1, true},
    {"cudaMallocAsync", 1, 1, true},
    {"cudaMemset", 1, 2, false},
    {"cudaMemsetAsync", 1, 2, false},
    {"cudaMemcpy", 2, 2, false},
    {"cudaMemcpyAsync", 2, 2, false},
}};

class LengthReader {
public:
    explicit LengthReader(const CodeMap& code) : code_(code), body_(code.body()), values_(code) {}

    [[nodiscard]] std::optional<std::int64_t> bytesOf(ExprId pointer, int depth = 0) const {
        const VariableId id = code_.namedVariable(pointer);
        if (id == noId || depth > maxNames)
            return std::nullopt;
        const Variable& variable = body_.variable(id);
        if (!variable.type.arrayExtents.empty() && variable.type.size > 0)
            return variable.type.size;
        for (const bool allocates : {true, false})
            if (const auto stated = statedBy(id, allocates))
                return stated;
        return variable.init == noId ? std::nullopt : bytesOf(variable.init, depth + 1);
    }

private:
    [[nodiscard]] std::optional<std::int64_t> statedBy(VariableId id, bool allocates) const {
        std::optional<std::int64_t> most;
        for (const ExprId use : code_.uses(id))
            if (const auto bytes = statedAt(use, allocates); bytes && *bytes > 0)
                most = std::max(most.value_or(0), *bytes);
        return most;
    }

    /// Returns the size that a call states if its argument here is the variable or its address.
    [[nodiscard]] std::optional<std::int64_t> statedAt(ExprId use, bool allocates) const {
        bool isAddress = false;
        ExprId argument = use;
        ExprId above = code_.parent(use);
        for (; above != noId; above = code_.parent(argument)) {
            const Expr& expr = body_.expr(above);
            if (expr.kind == ExprKind::Unary && expr.op == "&")
                isAddress = true;
            else if (expr.kind != ExprKind::Cast)
                break;
            argument = above;
        }
        if (above == noId || isAddress != allocates)
            return std::nullopt;
        const Expr& call = body_.expr(above);
        const auto sized = std::ranges::find(sizedCalls, call.name, &SizedCall::name);
        if (call.kind != ExprKind::Call || sized == sizedCalls.end() ||
            sized->allocates != allocates || sized->bytes >= call.children.size() ||
            std::ranges::find(call.children, argument) - call.children.begin() >=
                static_cast<std::ptrdiff_t>(sized->pointers))
            return std::nullopt;
        return values_.value(call.children[sized->bytes]);
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    FixedValues values_;
};

} // namespace

std::optional<std::int64_t> statedBytes(const CodeMap& host, ExprId pointer) {
    return LengthReader(host).bytesOf(pointer);
}

} // namespace kernelskill::analysis
