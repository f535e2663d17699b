/// Follows one host function, statement by statement.
#pragma once

#include "analysis/model/integer_values.h"
#include "analysis/queries/code_map.h"
#include "analysis/queries/kernel_reach.h"
#include "engine/review/host/device_queries.h"
#include "engine/review/host/host_steps.h"
#include "engine/review/host/host_value.h"
#include "engine/review/host/runtime_state.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// See traceHost(). For one run. It stops when failure_ is set or the scenario does not decide a
/// condition. Keeps references to its arguments.
class HostInterpreter {
public:
    HostInterpreter(const analysis::FileModel& file, std::uint32_t function,
                    const HostScenario& scenario, const std::stop_token& stop);

    [[nodiscard]] Result<HostTrace> run();

private:
    static constexpr int maxSteps = 200'000;
    enum class Flow : std::uint8_t { Next, Break, Continue, Return };

    [[nodiscard]] bool isStopped() const { return failure_ || !undecided_.empty(); }
    [[nodiscard]] std::uint32_t lineOf(analysis::Span span) const;
    void fail(analysis::Span span, std::string what);
    void hostStep(analysis::Span span, std::string what);
    /// Adds a Read of memory that the GPU may write, e.g. `x[3]`.
    void readStep(analysis::Span span, const std::string& what, const std::string& object);
    [[nodiscard]] std::string textAt(analysis::Span span) const;

    Flow statement(analysis::StmtId id);
    Flow all(const std::vector<analysis::StmtId>& statements);
    void declare(analysis::VariableId id);
    Flow branch(analysis::StmtId id, const analysis::Stmt& stmt);
    Flow loop(const analysis::Stmt& stmt);
    Flow rounds(const analysis::Stmt& stmt);
    [[nodiscard]] bool leavesRound(analysis::StmtId id) const;
    [[nodiscard]] std::optional<bool> decided(const HostValue& condition);
    /// True if neither CUDA nor a way out lies below the statement.
    [[nodiscard]] bool isHostAlone(analysis::StmtId id) const;
    /// Adds one step for a statement that is about the host alone: its text and the values it
    /// starts from. The variables that it may change are unknown afterwards, but the same for both
    /// versions.
    Flow summarise(analysis::StmtId id);
    /// True if it is passed to a function, which may take it by reference.
    [[nodiscard]] bool isArgument(analysis::ExprId expr) const;
    /// True for a pointer that the function takes by value.
    [[nodiscard]] bool isCopied(analysis::ExprId argument) const;
    /// The number of steps so far that may change memory: it tells two reads of one place apart.
    [[nodiscard]] std::size_t epoch();
    /// The value of a variable that the host alone changes, after a step that may have changed it.
    [[nodiscard]] HostValue unknown(const std::string& name) const;

    HostValue evaluate(analysis::ExprId id);
    HostValue variable(const analysis::Expr& expr);
    HostValue member(const analysis::Expr& expr);
    static HostValue asExtents(HostValue value);
    HostValue construction(const analysis::Expr& expr);
    HostValue conditional(const analysis::Expr& expr);
    HostValue subscript(const analysis::Expr& expr);
    HostValue addressOf(analysis::ExprId operand);
    /// `pointer op index`: a pointer into the same object.
    HostValue stepped(const std::string& op, analysis::ExprId pointer, const HostValue& from,
                      const HostValue& index) const;
    /// True for a local array of streams or events, whose elements are followed one by one.
    [[nodiscard]] bool isHandleArray(analysis::VariableId id) const;
    /// The element `array[index]` of such an array; nullopt for other expressions. Fails where the
    /// index is not known.
    std::optional<HostPlace> handlePlace(const analysis::Expr& expr);
    HostValue unary(const analysis::Expr& expr);
    HostValue binary(const analysis::Expr& expr);
    [[nodiscard]] bool isLocal(analysis::VariableId id) const;
    void store(analysis::ExprId target, HostValue value);
    [[nodiscard]] analysis::VariableId rootOf(analysis::ExprId id) const;

    [[nodiscard]] const analysis::LaunchSite* launchOf(const analysis::Expr& expr) const;
    void addLaunch(const analysis::LaunchSite& launch, const analysis::Expr& expr);
    /// The memory that the launch touches, from its kernel's accesses; nullopt: any.
    [[nodiscard]] std::optional<std::vector<MemoryUse>>
    memoryOf(const analysis::LaunchSite& launch, const HostValue& grid, const HostValue& block,
             const std::vector<HostValue>& arguments);
    /// The value of an expression that names a place; its memory is not read.
    HostValue place(analysis::ExprId id);
    HostValue call(const analysis::Expr& expr);
    [[nodiscard]] bool asksTheDevice(const std::string& function);
    HostValue other(const analysis::Expr& expr);

    const analysis::FileModel& file_;
    const analysis::HostFunction& host_;
    const analysis::FunctionBody& body_;
    analysis::CodeMap code_;
    const HostScenario& scenario_;
    const std::stop_token& stop_;
    std::vector<const analysis::LaunchSite*> launches_;
    std::map<analysis::VariableId, HostValue> values_;
    std::map<HostPlace, HostValue> elements_; ///< Elements of arrays of streams and events.
    std::map<const analysis::KernelModel*, analysis::KernelReach> reaches_;
    std::optional<std::map<std::string, analysis::Span>> queries_; ///< See deviceQueries().
    RuntimeState runtime_;
    std::size_t counted_ = 0; ///< The first steps of runtime_, which epoch_ counts.
    std::size_t epoch_ = 0;
    int steps_ = 0;
    int hostSteps_ = 0;
    std::set<analysis::VariableId> escaped_; ///< Locals whose address code elsewhere may hold.
    std::set<analysis::VariableId> filled_;  ///< Locals whose address the runtime was given.
    bool isNamingPlace_ = false;             ///< The expression names a place, which is not read.
    /// Whether the present statement is done, and how often, follows from values that the scenario
    /// chose.
    bool isUnderAssumption_ = false;
    int loops_ = 0; ///< The number of loops around the present statement.
    std::optional<Error> failure_;
    std::string undecided_;
};

/// Returns "swap" for "std::swap".
[[nodiscard]] std::string_view withoutScope(std::string_view name);
/// Functions that change nothing and follow from their arguments alone.
[[nodiscard]] bool isPureFunction(std::string_view name);
/// Functions that take numbers by value.
[[nodiscard]] bool takesValues(std::string_view name);

} // namespace kernelskill::engine
