/// Runs a kernel on terms instead of values, as one thread of which nothing is known.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/proof/equal_terms.h"
#include "engine/proof/integer_facts.h"
#include "engine/proof/loop_record.h"
#include "engine/proof/terms.h"

#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// How a kernel is run.
struct RunRules {
    bool unrolls = false;   ///< Loops with few rounds, known from the text, are run round by round.
    bool overReals = false; ///< Sums and products of floating-point values are those of numbers.
    /// A grid has a thread for each element that a grid-stride loop of the edit counts to.
    bool coversElements = false;
    /// Elements of shared arrays are told apart by their subscripts, whatever the arrays' extents.
    bool subscriptsInBounds = false;
    /// Numbers of the parameters behind which nothing is written while the kernel runs.
    std::set<std::size_t> readOnly = {};
    /// Each access is noted on its own, lane by lane, and reads see the memory as it was when the
    /// kernel began; see ThreadTrace::accesses. What threads do together is not followed.
    bool notesAccesses = false;
    /// The value of the variable of a loop over the grid in its round; needs `notesAccesses`.
    std::optional<Term> item = std::nullopt;
    std::stop_token stop = {}; ///< Ends the run, which is not followed then.
};

/// One read or write of an element of memory that threads share.
struct ThreadAccess {
    bool isWrite = false;
    Term address = 0;
    std::string type; ///< The element's type.
    Wide size = 0;    ///< Bytes of the element.
    Term value = 0;
    Term guard = 0;
    std::size_t section = 0; ///< Index into ThreadTrace::sections.
    std::uint32_t line = 0;
};

/// A loop over all numbers from `first` on, of which a thread does every so many rounds as there
/// are threads. Or, as the first section, what the thread does once, for its own number.
struct ThreadSection {
    Term variable = 0;
    Term first = 0;
    Term condition = 0; ///< There is a round if it holds.
};

/// What a thread does that others may notice, and what it relies on.
struct ThreadTrace {
    // Set if RunRules::notesAccesses is.
    std::vector<ThreadSection> sections;
    std::vector<ThreadAccess> accesses; ///< The order is that of the run.
    /// Accesses to several lanes, by address and bytes: what has to be aligned to so many bytes, as
    /// a condition; empty where the guard says that it is.
    std::map<std::pair<Term, Wide>, std::string> aligned;

    Term effects = 0; ///< All stores, barriers, atomics and calls, in order.
    struct Effect {
        Term upTo = 0; ///< The effects, this one included.
        std::uint32_t line = 0;
        std::string what;
    };
    std::vector<Effect> log; ///< In the order of the text.
    /// By place that is read, the conditions under which it is; see also `lines`.
    std::map<Term, std::vector<Facts>> reads;
    std::map<Term, std::uint32_t> lines; ///< Of reads and of operations.
    std::set<Term> mayOverflow; ///< Results of signed arithmetic that may not fit their type.
    std::set<Term> divisors;    ///< Divisors that may be zero.
    /// What the variables of a round of the original are in each of the rounds that a round of the
    /// candidate does at once.
    std::vector<std::map<Term, Term>> rounds;
    std::set<std::string> conditions; ///< What the run took for granted.
    /// Parameters that no grid has fewer threads than, as was taken for granted, each as a
    /// condition.
    std::map<std::size_t, std::string> covered;
};

/// One run. Both kernels run in one table, the original first; the candidate's loops are matched
/// with the records of the original's.
class ThreadRun {
public:
    ThreadRun(TermTable& terms, KernelRef kernel, RunRules rules, LoopRecords& records,
              bool isOriginal);
    /// Conditions on integers that the run may take for granted, and adds to. Keeps the pointer.
    void relyOn(IntegerFacts* facts) { integers_ = facts; }
    /// Makes the run replace each integer and comparison by the earliest equal one. The run keeps
    /// the pointer.
    void unify(EqualTerms* equals) { equals_ = equals; }

    /// The whole kernel; the reason if something in it is not followed.
    [[nodiscard]] std::expected<ThreadTrace, std::string> run();

private:
    using ExprId = analysis::ExprId;
    using StmtId = analysis::StmtId;
    using VariableId = analysis::VariableId;

    /// Where a value is: a variable, a part of one, or memory.
    struct Place {
        VariableId variable = analysis::noId; ///< noId: memory.
        std::vector<std::string> members;     ///< Of the variable, outermost first.
        Term address = 0;
        analysis::Type type;
    };
    /// One round of a loop that began in the given state.
    struct Round {
        Term condition = 0;
        ThreadState end;
    };

    // thread_run.cpp
    void start();
    void execute(StmtId id, ThreadState& state);
    void declare(VariableId id, ThreadState& state);
    void branch(const analysis::Stmt& stmt, ThreadState& state);
    /// Runs `first` where `condition` holds and `second` where it does not.
    using Part = std::function<void(ThreadState&)>;
    void either(ThreadState& state, Term condition, const Part& first, const Part& second);
    void merge(ThreadState& state, Term condition, const ThreadState& then,
               const ThreadState& otherwise);
    [[nodiscard]] Term guard(const ThreadState& state);
    [[nodiscard]] Facts facts(const ThreadState& state);
    void effect(ThreadState& state, const std::string& what, std::vector<Term> arguments,
                analysis::Span place);
    void give(const std::string& reason, analysis::Span place);
    /// Whether the run has come to its end early: something is not followed, or it is stopped.
    [[nodiscard]] bool isOver();
    /// Whether the thread takes part in this round; it may have left it, and go on behind the loop.
    [[nodiscard]] Term takesPart(const ThreadState& state);

    // thread_loops.cpp
    void loop(StmtId id, ThreadState& state);
    [[nodiscard]] bool unrolled(const analysis::Stmt& stmt, ThreadState& state);
    void record(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] bool matched(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] bool matchedWith(std::size_t record, const analysis::Stmt& stmt,
                                   ThreadState& state);
    [[nodiscard]] bool runsOnce(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] Round round(const analysis::Stmt& stmt, ThreadState start);
    [[nodiscard]] std::set<VariableId> assignedIn(const analysis::Stmt& stmt) const;
    void collectAssigned(ExprId id, std::set<VariableId>& assigned) const;
    void leave(ThreadState& state, std::size_t record, analysis::Span place);
    [[nodiscard]] IntegerRange rangeOf(VariableId id) const;

    // thread_accesses.cpp
    [[nodiscard]] Term readElement(const Place& place, ThreadState& state, analysis::Span where,
                                   std::string_view by);
    void writeElement(const Place& place, Term value, ThreadState& state, analysis::Span where);
    /// The type of a lane; the type itself if it has one.
    [[nodiscard]] analysis::Type laneTypeOf(const Place& place, ThreadState& state,
                                            analysis::Span where);
    void requireAligned(const Place& place, const ThreadState& state, analysis::Span where);
    [[nodiscard]] bool spreads(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] bool unfolded(const analysis::Stmt& stmt, ThreadState& state);
    void unfold(const analysis::Stmt& stmt, ThreadState& state, int rounds);

    // thread_split_loops.cpp
    /// Between a loop of several rounds at once and the one that does what it left over.
    struct Resumption {
        std::size_t record;
        std::map<std::string, Term> values; ///< Of the candidate's variables, by the original's.
        std::map<std::string, Term> rests;  ///< Sums of the further parts, which no round changes.
    };
    [[nodiscard]] bool splits(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] bool splitsRecord(std::size_t record, int rounds, const analysis::Stmt& stmt,
                                    ThreadState& state);
    [[nodiscard]] bool resumes(const analysis::Stmt& stmt, ThreadState& state);
    [[nodiscard]] bool resumesAfter(const Resumption& resumption, const analysis::Stmt& stmt,
                                    ThreadState& state);
    [[nodiscard]] bool onlyFolds(const LoopRecord& record, const ThreadState& state);
    [[nodiscard]] bool changesVariablesAlone(const ThreadState& before, const ThreadState& after,
                                             const std::set<VariableId>& changed);
    [[nodiscard]] Term freshSymbol(VariableId id);
    [[nodiscard]] ThreadState roundStart(const ThreadState& state);

    // thread_expressions.cpp
    Term evaluate(ExprId id, ThreadState& state);
    [[nodiscard]] Term evaluateAs(ExprId id, const analysis::Type& type, ThreadState& state);
    [[nodiscard]] Term condition(ExprId id, ThreadState& state);
    [[nodiscard]] Term literal(const analysis::Expr& expr);
    [[nodiscard]] Term named(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Term unary(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Term binary(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Term assignment(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Term initialised(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Place place(ExprId id, ThreadState& state);
    [[nodiscard]] Term read(const Place& place, ThreadState& state, analysis::Span where,
                            std::string_view by = "load");
    void write(const Place& place, Term value, ThreadState& state, analysis::Span where);
    [[nodiscard]] Term memberOf(Term object, const std::string& member,
                                const analysis::Type& objectType, const analysis::Type& type,
                                bool isParameter);
    [[nodiscard]] Term baseOf(VariableId id);
    /// The memory that an address is in; empty if that is not known.
    [[nodiscard]] std::string memoryOf(Term address) const;

    // thread_arithmetic.cpp
    [[nodiscard]] Term converted(Term term, const analysis::Type& from, const analysis::Type& to,
                                 const ThreadState& state, analysis::Span where);
    [[nodiscard]] Term truthOf(Term term, const analysis::Type& type, const ThreadState& state);
    [[nodiscard]] Term floating(double value, analysis::ScalarKind kind);
    /// The result of an operator, of the type that it has in `type`.
    [[nodiscard]] Term arithmetic(std::string_view op, Term left, const analysis::Type& leftType,
                                  Term right, const analysis::Type& rightType,
                                  const ThreadState& state, analysis::Span where,
                                  analysis::Type& type);
    [[nodiscard]] Term firstEqual(Term integer, const ThreadState& state);
    [[nodiscard]] Term firstEqualTruth(Term truth, const ThreadState& state);
    void takeToFit(Term result, analysis::ScalarKind kind, const ThreadState& state);
    [[nodiscard]] Term integerResult(std::string_view op, Term left, Term right,
                                     analysis::ScalarKind kind, const ThreadState& state,
                                     analysis::Span where);
    [[nodiscard]] Term floatingResult(std::string_view op, Term left, Term right,
                                      analysis::ScalarKind kind);
    [[nodiscard]] Term elementSize(const analysis::Type& pointer);

    // thread_calls.cpp
    [[nodiscard]] Term call(const analysis::Expr& expr, ThreadState& state);
    [[nodiscard]] Term usersCall(const analysis::Expr& expr, const std::string& signature,
                                 std::vector<Term> arguments, ThreadState& state);
    [[nodiscard]] bool isUsers(std::string_view name) const;
    [[nodiscard]] bool isPure(std::string_view name, int depth = 0) const;
    void forget(ThreadState& state);

    [[nodiscard]] const analysis::FunctionBody& body() const { return kernel_.kernel.body; }
    [[nodiscard]] std::uint32_t lineOf(analysis::Span place) const;
    [[nodiscard]] std::string textOf(analysis::Span place) const;

    TermTable& terms_;
    KernelRef kernel_;
    RunRules rules_;
    LoopRecords& records_;
    bool isOriginal_;
    ThreadTrace trace_;
    std::string trouble_;               ///< The first thing that is not followed.
    std::map<Term, std::string> bases_; ///< By address of an object, its memory.
    std::vector<Resumption> resumptions_;
    IntegerFacts* integers_ = nullptr;
    EqualTerms* equals_ = nullptr;
    std::size_t section_ = 0;
    std::size_t fresh_ = 0; ///< Numbers symbols of this run.
    std::size_t steps_ = 0; ///< Statements run, to bound the work.
};

/// The type's name without const and restrict.
[[nodiscard]] std::string plainTypeName(const analysis::Type& type);
/// True for a number of one lane that C++ knows, or a pointer.
[[nodiscard]] bool isPlainNumber(const analysis::Type& type);
[[nodiscard]] bool isAddress(const analysis::Type& type);
[[nodiscard]] bool isTruthType(const analysis::Type& type);
[[nodiscard]] bool isFloatingKind(analysis::ScalarKind kind);
[[nodiscard]] bool assigns(std::string_view op);

} // namespace kernelskill::engine
