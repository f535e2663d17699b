/// What a kernel does, as data: the common ground of features, skills, diagnosis and inputs.
#pragma once

#include "analysis/model/index_expression.h"
#include "analysis/source/diagnostic.h"
#include "analysis/syntax/syntax.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::analysis {

enum class FunctionKind : std::uint8_t { Kernel, Device, HostDevice, Host };

struct TemplateParameter {
    std::string name;
    bool isType = false;
    Type type; ///< Of a non-type parameter.
    std::optional<std::string> defaultArgument;
};

struct Parameter {
    VariableId variable = noId;
    std::string name;
    Type type;
    Span span;           ///< The whole parameter, e.g. `const float* x`.
    bool isRead = false; ///< Memory behind it is read (or, for a value, the value is).
    bool isWritten =
        false; ///< Memory behind it is written, or may be (address escapes to an unknown function).
    bool escapes = false; ///< Passed on to a function whose body is not known, or stored.
};

enum class LoopKind : std::uint8_t { For, While, Do };

struct Loop {
    LoopKind kind = LoopKind::For;
    StmtId statement = noId;
    StmtId body = noId;
    std::uint32_t parent = noId;         ///< Index into KernelModel::loops of the enclosing loop.
    std::uint32_t depth = 0;             ///< 0 for an outermost loop.
    VariableId inductionVariable = noId; ///< noId when there is no single one.
    ExprId lowerBound = noId;
    ExprId upperBound = noId;         ///< The limit as written on the other side of the comparison.
    std::string comparison;           ///< "<", "<=", ">", ">=", "!="
    std::optional<std::int64_t> step; ///< Added each round; nullopt when multiplicative or unknown.
    std::optional<IndexExpression> stepExpression; ///< The step's amount, where polynomial.
    std::string stepOperator; ///< "+=", "-=", "*=", "/=", ">>=", "<<="; empty when unknown.
    std::optional<std::int64_t> tripCount; ///< Known at compile time.
    std::optional<IndexExpression>
        tripCountExpression; ///< When step is 1 and both bounds are polynomial.
    /// Value of the induction variable on entry, as far as it is polynomial; holds threadIdx in a
    /// loop that strides over threads.
    std::optional<IndexExpression> start;
    bool hasBarrier = false;
    bool hasEarlyExit = false; ///< break, return or goto inside.
};

enum class MemorySpace : std::uint8_t { Global, Shared, Constant, Local, Generic };
enum class AccessKind : std::uint8_t { Read, Write, ReadWrite, Atomic };

struct MemoryAccess {
    ExprId expression =
        noId; ///< The lvalue: a Subscript, a dereference, or the argument of an atomic or __ldg.
    MemorySpace space = MemorySpace::Generic;
    AccessKind kind = AccessKind::Read;
    VariableId base =
        noId; ///< The parameter or array it goes through, aliases resolved; noId when unknown.
    std::uint32_t width = 0; ///< Bytes; 0 when the type depends on a template parameter.
    /// In elements of `width` bytes from the base, arrays flattened row-major. nullopt: not
    /// polynomial.
    std::optional<IndexExpression> index;
    std::vector<std::optional<IndexExpression>>
        subscripts;                   ///< Per dimension as written, outermost first.
    std::vector<std::uint32_t> loops; ///< Indices of enclosing loops, outermost first.
    std::vector<StmtId> conditions;   ///< Enclosing If statements, outermost first.
};

struct SharedArray {
    VariableId variable = noId;
    bool isDynamic = false;
    std::uint64_t bytes = 0; ///< 0 when dynamic or dependent.
};

enum class BarrierKind : std::uint8_t {
    SyncThreads,
    SyncThreadsReduce,
    SyncWarp,
    GroupSync,
    GridSync,
    Fence
};

struct Barrier {
    BarrierKind kind = BarrierKind::SyncThreads;
    ExprId call = noId;
    bool inDivergentBranch = false; ///< Under a condition that depends on threadIdx or on data.
};

enum class WarpOperationKind : std::uint8_t { Shuffle, Vote, Match, Reduce, ActiveMask };

struct WarpOperation {
    WarpOperationKind kind = WarpOperationKind::Shuffle;
    ExprId call = noId;
};

struct Atomic {
    ExprId call = noId;
    std::uint32_t access = noId; ///< Index into accesses.
};

struct MathCall {
    ExprId call = noId;
    bool isSpecialFunction =
        false; ///< Runs on the special-function units or expands to many instructions.
};

struct Branch {
    StmtId statement = noId;
    bool dependsOnThread = false; ///< On threadIdx (through the definitions of variables).
    bool dependsOnData = false;   ///< On loaded values.
    bool isBoundsGuard = false;   ///< `if (i < n)` around the work, or `if (i >= n) return`.
};

/// A kernel launch in host code: `name<<<grid, block, shared, stream>>>(arguments)`.
struct LaunchSite {
    std::string kernelName;                     ///< Qualified name of the kernel.
    Span span;                                  ///< From the kernel's name to the closing ')'.
    Span configurationSpan;                     ///< From "<<<" to ">>>", both included.
    std::vector<std::string> templateArguments; ///< As written, or as deduced.
    std::uint32_t host = noId;                  ///< Index into FileModel::hostFunctions.
    ExprId grid = noId; ///< In that host function's arena; also the three below.
    ExprId block = noId;
    ExprId sharedBytes = noId; ///< noId when defaulted.
    ExprId stream = noId;
    std::vector<ExprId> arguments;
    std::vector<Span> argumentSpans;
    bool fromMacro = false;
    /// Block size x, y, z as far as the text alone tells it; 0 on an axis that is not constant,
    /// empty when none is.
    std::vector<std::int64_t> constantBlock;
};

/// A kernel, a device function that kernels call, or a host function with loops (kind tells).
struct KernelModel {
    FunctionKind kind = FunctionKind::Kernel;
    std::string name;          ///< "saxpy"
    std::string qualifiedName; ///< "blas::saxpy"
    std::string file;          ///< Path of the file that defines it.
    Span span;                 ///< The whole definition, template header and attributes included.
    Span nameSpan;
    Span bodySpan;          ///< From '{' to '}'.
    bool fromMacro = false; ///< The definition comes out of a macro: nothing in it can be edited.
    std::vector<TemplateParameter> templateParameters;
    std::optional<std::int64_t> launchBoundsThreads;
    std::optional<std::int64_t> launchBoundsBlocks;
    std::vector<Parameter> parameters;
    FunctionBody body;
    std::vector<Loop> loops;
    std::vector<MemoryAccess> accesses;
    std::vector<SharedArray> sharedArrays;
    std::vector<Barrier> barriers;
    std::vector<WarpOperation> warpOperations;
    std::vector<Atomic> atomics;
    std::vector<MathCall> mathCalls;
    std::vector<Branch> branches;
    std::vector<std::string>
        calls; ///< Qualified names of device functions of this translation unit it calls.
    std::vector<LaunchSite>
        launches; ///< In the main file and the headers it includes, see LaunchSite::host.
    /// Hash of the body with comments, white space and local names normalised: survives renames and
    /// moves.
    std::uint64_t normalisedHash = 0;
};

struct HostFunction {
    std::string name;
    std::string file;
    Span span;
    FunctionBody body;
};

struct Include {
    std::string spelling; ///< `<cuda_fp16.h>` or `"util.h"`, delimiters included.
    std::string resolved; ///< Path, empty when it was not found.
    Span span;            ///< The directive in the main file.
};

enum class ParseMode : std::uint8_t { Toolkit, Prelude };

/// What nvcc compiles for the host alone, and libclang lets the device use too.
struct HostOnlyCode {
    std::vector<Span> indexUses; ///< threadIdx and its kin in host functions of the main file.
    std::vector<std::string> constexprFunctions; ///< Qualified names, of user files.
};

/// Everything known of a main file after a parse. A value: safe to share between threads as const.
struct FileModel {
    std::string file;
    std::shared_ptr<const SourceText> source;
    ParseMode mode = ParseMode::Prelude;
    std::vector<Diagnostic> diagnostics;
    std::vector<KernelModel> kernels; ///< Of the main file first, then of user headers it includes.
    std::vector<KernelModel> deviceFunctions;
    std::vector<HostFunction> hostFunctions; ///< Only those with launches.
    /// Host functions of the main file with loops over arrays: what a first kernel may be made of.
    std::vector<KernelModel> loopFunctions;
    HostOnlyCode hostOnly;
    std::vector<Include> includes;
    std::vector<std::string> userFiles; ///< Non-system files read, the main file first.
};

/// The kernel of the main file whose definition holds `offset`; nullptr when there is none.
[[nodiscard]] const KernelModel* kernelAt(const FileModel& model, std::uint32_t offset);
[[nodiscard]] const KernelModel* kernelNamed(const FileModel& model, std::string_view name);
/// The host function with loops whose definition holds `offset`; nullptr when there is none.
[[nodiscard]] const KernelModel* loopFunctionAt(const FileModel& model, std::uint32_t offset);

} // namespace kernelskill::analysis
