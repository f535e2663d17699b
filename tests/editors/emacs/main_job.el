;;; main_job.el --- A user's work in a CUDA file, through Eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; Evaluates the Lisp of docs/editors.md as a user's own, opens a copy of an example, and looks at what Emacs shows.
;; In batch mode there are no keys: the test itself runs what the command loop would run, and waits for conditions.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'package)
(package-initialize)
(require 'eglot)
(require 'flymake)

(defconst main-job-root (getenv "KERNELSKILL_TEST_ROOT"))
(defconst main-job-scratch (getenv "KERNELSKILL_TEST_SCRATCH"))

(defun main-job-configuration ()
  "The forms of the Lisp in docs/editors.md."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "docs/editors.md" main-job-root))
    (re-search-forward "^```elisp\n")
    (let ((begin (point)))
      (re-search-forward "^```$")
      (narrow-to-region begin (match-beginning 0)))
    (goto-char (point-min))
    (cl-loop for form = (ignore-errors (read (current-buffer)))
             while form collect form)))

(defun main-job-wait-for (what seconds condition)
  "Let Emacs work until CONDITION returns non-nil, and return that.
Fail after SECONDS; WHAT is for the message."
  (let ((limit (time-add nil seconds)) value)
    (while (not (or (setq value (funcall condition)) (time-less-p limit nil)))
      (accept-process-output nil 0.05))
    (or value (ert-fail (format "waited %d s for %s" seconds what)))))

(defun main-job-open (example)
  "Visit a copy of EXAMPLE in a project of its own, with a server."
  (let* ((directory (make-temp-file (expand-file-name "project" main-job-scratch) t))
         (file (expand-file-name example directory)))
    (copy-file (expand-file-name (concat "examples/" example) main-job-root) file)
    (make-directory (expand-file-name ".git" directory))
    (find-file file)
    (run-hooks 'post-command-hook) ; where eglot-ensure connects
    (main-job-wait-for "the server" 30 #'eglot-managed-p)))

(defun main-job-diagnostics ()
  "Messages of the diagnostics that Flymake shows in the buffer."
  (eglot--signal-textDocument/didChange) ; which waits for Emacs to be idle
  (flymake-start)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun main-job-wait-for-diagnostic (text)
  "Wait until a diagnostic holds TEXT."
  (main-job-wait-for text 30
                     (lambda ()
                       (cl-find-if (lambda (message) (string-search text message))
                                   (main-job-diagnostics)))))

(defmacro main-job-with (example &rest body)
  "Visit EXAMPLE, run BODY, and leave no server behind."
  (declare (indent 1))
  `(progn
     (main-job-open ,example)
     (unwind-protect (progn ,@body)
       (set-buffer-modified-p nil)
       (eglot-shutdown (eglot-current-server))
       (kill-buffer))))

(defun main-job-hover ()
  "What hover says at point."
  (let (said)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq said text)))
    (substring-no-properties (main-job-wait-for "hover" 20 (lambda () said)))))

(defun main-job-choose-action (title)
  "As \\[eglot-code-actions] and choosing TITLE; yes to what is asked then."
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt items &rest _)
               (or (car (cl-find-if (lambda (item) (string-search title (car item))) items))
                   (ert-fail (format "no %s among %S" title (mapcar #'car items))))))
            ((symbol-function 'y-or-n-p) (lambda (&rest _) t)))
    (let ((before (buffer-string))
          (last-nonmenu-event ?a)) ; not the mouse
      (call-interactively #'eglot-code-actions)
      (main-job-wait-for "the edit" 60 (lambda () (not (equal before (buffer-string))))))))

(ert-deftest a-cuda-file-has-the-server-of-the-configuration ()
  (main-job-with "saxpy.cu"
    (should (eq major-mode 'cuda-mode))
    (should (equal '("kernelskill" "lsp")
                   (process-command (jsonrpc--process (eglot-current-server)))))))

(ert-deftest diagnostics-hover-skill-and-undo ()
  (main-job-with "transpose.cu"
    (main-job-wait-for-diagnostic "32-way bank conflict")
    (goto-char (point-min))
    (search-forward "void trans")
    (let ((hover (main-job-hover)))
      (should (string-search "bank-conflicts" hover))
      (should (string-search "neighbouring lanes are 32 elements apart" hover)))
    (let ((original (buffer-string)))
      (buffer-enable-undo)
      (undo-boundary)
      (main-job-choose-action "Pad the rows of shared array tile by 1")
      (should (string-search "tile[TILE][TILE + 1]" (buffer-string)))
      (main-job-wait-for "no conflict" 30
                         (lambda () (not (cl-find-if (lambda (text) (string-search "32-way" text))
                                                     (main-job-diagnostics)))))
      (undo-boundary)
      (let ((last-command nil)) (undo))
      (should (equal original (buffer-string))))))

(ert-deftest a-compile-error-is-shown-and-fixed ()
  (main-job-with "transpose.cu"
    (goto-char (point-min))
    (search-forward "__syncthreads")
    (replace-match "__synchthreads")
    (main-job-wait-for-diagnostic "__synchthreads")
    (backward-char)
    (main-job-choose-action "__syncthreads")
    (should (string-search "__syncthreads();" (buffer-string)))
    (should-not (string-search "__synchthreads" (buffer-string)))))

(defun main-job-run ()
  "Run the tests; print a summary; exit with status 1 if one failed."
  (mapc #'eval (main-job-configuration))
  (setq make-backup-files nil create-lockfiles nil)
  (let* ((stats (ert-run-tests-batch))
         (failed (ert-stats-completed-unexpected stats)))
    (message "%d passed, %d failed" (ert-stats-completed-expected stats) failed)
    (kill-emacs (if (zerop failed) 0 1))))

;;; main_job.el ends here
