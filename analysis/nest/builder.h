/// Walks over a kernel's trees and makes its nest. Implementation detail of nest.h.
#pragma once

#include "analysis/nest/nest.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kernelskill::analysis {

struct NestChoice;

/// A pointer's value or a place in memory.
struct NestAddress {
    NestArrayId array = noId;
    std::optional<IndexExpression> offset; ///< In units.
    std::uint32_t unit = 0;                ///< Bytes; 0 where a template parameter decides.
    std::vector<std::int64_t> extents;     ///< Of the dimensions that are not subscripted yet.
    std::vector<IndexExpression> written;  ///< Subscripts of the declared dimensions so far.
    std::string field;
    std::vector<NestSubscript> inner; ///< Subscripts within the field.
    std::string reason;               ///< Why the array or the offset is not known.
    std::vector<NestChoice> choices;  ///< If any: it is one of these, and `array` is noId.
    bool operator==(const NestAddress&) const;
};

/// An address, and when it is the one.
struct NestChoice {
    NestCondition when;
    NestAddress address;
    bool operator==(const NestChoice&) const = default;
};

/// `change` of each address that it may be.
template <typename Change>
NestAddress eachOf(NestAddress address, const Change& change) {
    for (NestChoice& choice : address.choices)
        choice.address = change(std::move(choice.address));
    return address;
}

/// A variable of a frame, or a field of one.
struct NestVariableKey {
    std::uint32_t frame = 0;
    VariableId variable = noId;
    std::string path; ///< "", ".x"
    auto operator<=>(const NestVariableKey&) const = default;
};

/// The variable or the memory that an lvalue names.
struct NestPlace {
    std::optional<NestVariableKey> variable;
    NestAddress address;
};

/// The value that a variable holds, as far as it is known.
struct NestFollowed {
    std::optional<IndexExpression> integer;
    std::optional<NestAddress> address;
    bool operator==(const NestFollowed&) const = default;
};

/// The conditions under which a statement does not reach the one behind it.
struct NestExit {
    NestCondition returns = NestCondition::never();
    NestCondition leaves = NestCondition::never(); ///< By break.
    NestCondition skips = NestCondition::never();  ///< By continue.

    [[nodiscard]] NestCondition any() const { return either(either(returns, leaves), skips); }
};

class NestBuilder {
public:
    NestBuilder(const FileModel& file, const KernelModel& kernel);

    [[nodiscard]] Nest build();

private:
    using State = std::map<NestVariableKey, NestFollowed>;
    struct Frame {
        const KernelModel* function = nullptr;
        std::map<VariableId, NestPlace> aliases; ///< References, and `this` under noId.
        std::map<std::string, std::int64_t, std::less<>> constants; ///< Template parameters.
        std::optional<NestFollowed> result; ///< Of its return statements so far.
        bool hasResult = false;
    };
    /// A change of a variable in a loop.
    struct Change {
        VariableId variable = noId;
        ExprId expression = noId;
        bool isConditional = false; ///< Not once in every round.
        bool isHeader = false;      ///< In the for's increment.
    };

    /// Where a pointer may be that a loop changes.
    struct PointerTargets {
        std::vector<NestAddress> addresses;
        std::vector<VariableId> variables; ///< What they hold.
        bool isMoved = false;              ///< By an amount that is not told here.
        bool isLost = false;
    };

    // builder.cpp
    void readLaunches();
    void bindTemplate();
    void bindConstant(std::string_view name, std::string_view value);
    [[nodiscard]] const FunctionBody& body() const { return frames_[frame_].function->body; }
    [[nodiscard]] const Expr& expr(ExprId id) const { return body().expr(id); }
    /// As written; made from the tree where the text is in another file.
    [[nodiscard]] std::string text(ExprId id) const;
    [[nodiscard]] std::string treeText(ExprId id, int depth = 0) const;
    NestNodeId append(NestNode node);
    [[nodiscard]] NestCondition unknownCondition(std::string text);
    /// A number that the text does not tell, of an expression or a variable of the current frame.
    [[nodiscard]] IndexExpression freshValue(const std::string& name, const Type& type,
                                             ExprId expression = noId, VariableId variable = noId);

    // builder_statements.cpp
    NestExit walk(StmtId id);
    NestExit walkSequence(const std::vector<StmtId>& statements);
    NestExit walkIf(StmtId id);
    NestExit walkSwitch(StmtId id);
    void declare(VariableId variable, StmtId statement);
    NestNodeId openGuard(const NestCondition& condition, bool isExit, StmtId statement);
    void beginStatement(StmtId statement, ExprId expression, VariableId declared, Span span,
                        NestStatementKind kind = NestStatementKind::Compute);
    void endStatement();
    void compute(ExprId expression, StmtId statement,
                 NestStatementKind kind = NestStatementKind::Compute);
    void opaque(std::string reason);
    void merge(const NestCondition& condition, State then, const State& otherwise);
    [[nodiscard]] std::string reductionOf(ExprId expression) const;

    // builder_loops.cpp
    NestExit walkLoop(StmtId id);
    void collectChanges(StmtId id, bool conditional, std::vector<Change>& changes) const;
    void collectChanges(ExprId id, bool conditional, bool isHeader,
                        std::vector<Change>& changes) const;
    [[nodiscard]] bool hasContinue(StmtId id) const;
    [[nodiscard]] std::optional<IndexExpression> stepOf(const Change& change);
    void findBounds(const Stmt& stmt, const Loop& described, NestLoop& loop,
                    const std::map<VariableId, IndexExpression>& steps,
                    const std::map<VariableId, Symbol>& carried, const State& before);
    [[nodiscard]] VariableId countedBy(const Stmt& stmt,
                                       const std::map<VariableId, IndexExpression>& steps,
                                       const std::map<VariableId, Symbol>& carried, NestLoop& loop);
    void pointerBounds(const Stmt& stmt, NestLoop& loop,
                       const std::map<VariableId, IndexExpression>& steps, const State& before);
    void classify(NestLoop& loop) const;

    // builder_inductions.cpp
    void bindInductions(const NestLoop& loop, const std::map<VariableId, IndexExpression>& steps,
                        const State& before);
    void afterLoop(const NestLoop& loop, const std::map<VariableId, IndexExpression>& steps,
                   const State& before, const std::set<VariableId>& changed);

    // builder_values.cpp
    [[nodiscard]] std::optional<IndexExpression> integer(ExprId id);
    [[nodiscard]] std::optional<IndexExpression> integerOf(VariableId variable);
    [[nodiscard]] std::optional<IndexExpression> operation(const Expr& expression, ExprId id);
    [[nodiscard]] std::optional<IndexExpression> callResult(const Expr& expression, ExprId id);
    [[nodiscard]] IndexExpression valueOf(ExprId id);
    [[nodiscard]] NestCondition condition(ExprId id);
    [[nodiscard]] NestFollowed followed(ExprId id, const Type& type);
    [[nodiscard]] const NestFollowed* known(const NestVariableKey& key) const;
    void set(const NestVariableKey& key, NestFollowed value);
    void forget(const NestVariableKey& key);

    // builder_addresses.cpp
    [[nodiscard]] NestPlace place(ExprId id);
    [[nodiscard]] NestAddress pointer(ExprId id);
    [[nodiscard]] NestAddress pointerOf(const NestVariableKey& key, const Type& type);
    [[nodiscard]] NestAddress subscripted(NestAddress address, ExprId subscript, const Type& type);
    [[nodiscard]] NestAddress loadedArray(ExprId id, const Type& type);
    NestArrayId arrayOf(const NestVariableKey& key, const Type& type);
    [[nodiscard]] std::uint32_t sizeOf(const Type& type) const;
    [[nodiscard]] std::uint32_t elementSizeOf(const Type& type) const;

    // builder_pointers.cpp
    [[nodiscard]] NestAddress inUnits(NestAddress address, std::uint32_t unit) const;
    [[nodiscard]] NestAddress outOfField(NestAddress address) const;
    [[nodiscard]] NestAddress moved(NestAddress address, const IndexExpression& by) const;
    [[nodiscard]] NestAddress chosen(const NestCondition& condition, const NestAddress& then,
                                     const NestAddress& otherwise);
    void addTargets(ExprId value, PointerTargets& targets);
    [[nodiscard]] NestAddress
    carriedPointer(VariableId variable, const std::vector<Change>& changes, const State& before);

    // builder_effects.cpp
    enum class Use : std::uint8_t { Read, Write, ReadWrite };
    void visit(ExprId id, Use use = Use::Read);
    void visitPlace(ExprId id, Use use);
    void visitAssignment(ExprId id);
    void visitConditional(ExprId id);
    void visitPointerParts(ExprId id);
    void access(const NestPlace& place, AccessKind kind, ExprId expression, const Type& type);
    [[nodiscard]] bool isFollowed(const Type& type) const;

    // builder_calls.cpp
    void visitCall(ExprId id);
    bool visitKnownCall(ExprId id);
    [[nodiscard]] std::uint32_t calleeOf(const Expr& call, std::string& reason) const;
    [[nodiscard]] bool touchesMemory(const KernelModel& function, int depth = 0) const;
    void inlineCall(ExprId id, std::uint32_t function);
    void forgetChanges(const State& before);
    void visitUnknownCall(ExprId id, const std::string& reason);

    const FileModel& file_;
    const KernelModel& kernel_;
    Nest nest_;
    std::vector<Frame> frames_;
    std::uint32_t frame_ = 0;
    State state_;
    NestNodeId parent_ = noId;
    std::vector<NestNode> pending_;     ///< Statements that are being read, outermost first.
    std::vector<NestCondition> within_; ///< Conditions within them.
    std::map<NestVariableKey, NestArrayId> arrays_;
    std::map<std::string, NestArrayId> loaded_;
    std::map<std::string, Symbol> parameters_;
    std::map<std::pair<std::uint32_t, ExprId>, Symbol> values_;          ///< Of what memory holds.
    std::map<std::pair<std::uint32_t, ExprId>, NestFollowed> results_;   ///< Of calls.
    std::map<std::pair<std::uint32_t, ExprId>, std::uint32_t> unknowns_; ///< Numbers of conditions.
    std::set<Symbol> carried_; ///< Values that a loop carries from round to round.
    std::uint32_t unknownCount_ = 0;
    int depth_ = 0;         ///< Calls around.
    std::size_t steps_ = 0; ///< Expressions read, to bound the work.
};

/// A number for an index: an integer of at most 64 bits, a bool or an enumerator.
[[nodiscard]] bool isNestInteger(const Type& type);
[[nodiscard]] bool isNestPointer(const Type& type);

} // namespace kernelskill::analysis
