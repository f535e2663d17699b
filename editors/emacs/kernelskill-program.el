;;; kernelskill-program.el --- Where a CUDA program's time on the GPU goes  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; `kernelskill-profile-program' builds and runs the program of the workspace by way of Eglot's server, and lists its
;; kernels by their share of the GPU's time.  In the list, RET goes to a kernel's definition, S sorts by a column, and g
;; profiles the program again.  `kernelskill-optimize-program' searches these kernels.  Load this before Eglot connects:
;; then the server leaves it to this file to show profiles, also of programs that were profiled since a file of theirs was
;; saved.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'seq)
(require 'tabulated-list)

(defconst kernelskill-program--sort-keys
  [:share :share :microseconds :launches :median_microseconds :roofline_percent]
  "What the columns of numbers are sorted by: keys of a kernel of the answer.
The columns behind them are texts.")

(defvar-local kernelskill-program--server nil
  "The server that has profiled the program of this buffer.")
(defvar-local kernelskill-program--argument nil
  "The argument that it was asked with.")
(defvar-local kernelskill-program--notes nil
  "An overlay that says behind the list what no kernel says.")

(defvar kernelskill-program-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'kernelskill-program-visit)
    map)
  "Keys of `kernelskill-program-mode'.")

(define-derived-mode kernelskill-program-mode tabulated-list-mode "Kernels"
  "Lists the kernels of a program by their share of the GPU's time."
  (setq-local revert-buffer-function
              (lambda (&rest _)
                (kernelskill-program--request kernelskill-program--server
                                              kernelskill-program--argument)))
  ;; A list that is sorted anew is erased: the overlay begins in front of it, and its text stands behind it.
  (setq kernelskill-program--notes (make-overlay (point-min) (point-max) nil nil t)))

(cl-defmethod eglot-client-capabilities :around (_server)
  "Say that profiles of programs are shown here.
Other servers do not know the word."
  (let* ((capabilities (cl-call-next-method))
         (others (plist-get capabilities :experimental)))
    (plist-put capabilities :experimental
               (append '(:kernelskill (:programProfiles t)) (and (listp others) others)))))

(cl-defmethod eglot-handle-notification
  (server (_method (eql kernelskill/programProfiled)) &rest profile)
  "A file of a program was saved, and the program profiled: show PROFILE of SERVER.
A list is not opened for it, but one that there is changes."
  (when-let ((buffer (get-buffer (kernelskill-program--buffer-name profile))))
    (kernelskill-program--fill buffer profile server
                               (buffer-local-value 'kernelskill-program--argument buffer)))
  (message "%s" (plist-get profile :summary)))

(defun kernelskill-profile-program (&optional times-alone)
  "Build and run the program that runs the workspace's kernels, and list them.
With a prefix argument TIMES-ALONE, the program runs once, and nothing is
said of what holds its kernels back."
  (interactive "P")
  (unless buffer-file-name
    (user-error "This buffer visits no file"))
  (kernelskill-program--request
   (or (eglot-current-server) (user-error "No server of Eglot manages this buffer"))
   `( :uri ,(kernelskill-program--uri buffer-file-name)
      :details ,(if times-alone :json-false t))))

(defun kernelskill-optimize-program ()
  "Search the hot kernels of the program that runs the workspace's kernels.
That is done in copies of the workspace, where the program is built, checked
and timed with what is found.  Eglot applies the edit that comes of it."
  (interactive)
  (unless buffer-file-name
    (user-error "This buffer visits no file"))
  (kernelskill-program--execute
   (or (eglot-current-server) (user-error "No server of Eglot manages this buffer"))
   "kernelskill.optimizeProgram" "optimizing the program"
   `(:uri ,(kernelskill-program--uri buffer-file-name))
   #'ignore))

(defun kernelskill-program-visit ()
  "Go to the definition of the kernel at point."
  (interactive)
  (let* ((kernel (or (tabulated-list-get-id) (user-error "No kernel is on this line")))
         (uri (or (plist-get kernel :uri)
                  (user-error "The workspace does not define %s" (plist-get kernel :name)))))
    (pop-to-buffer (find-file-noselect (kernelskill-program--path uri)))
    (widen)
    (goto-char (point-min))
    (forward-line (plist-get kernel :line))))

(defun kernelskill-program--uri (path)
  "The URI of PATH, by a function that has become public in Emacs 30."
  (funcall (if (fboundp 'eglot-path-to-uri) 'eglot-path-to-uri 'eglot--path-to-uri) path))

(defun kernelskill-program--path (uri)
  "The path that URI names."
  (funcall (if (fboundp 'eglot-uri-to-path) 'eglot-uri-to-path 'eglot--uri-to-path) uri))

(defun kernelskill-program--request (server argument)
  "Ask SERVER for a profile by ARGUMENT, and show it when it is there."
  (kernelskill-program--execute
   server "kernelskill.profileProgram" "profiling the program" argument
   (lambda (profile) (kernelskill-program--show profile server argument))))

(defun kernelskill-program--execute (server command doing argument done)
  "Ask SERVER to carry out COMMAND with ARGUMENT, and call DONE with the answer.
DOING says what it does."
  (unless (and server (jsonrpc-running-p server))
    (user-error "The server has ended"))
  (message "KernelSkill: %s" doing)
  (jsonrpc-async-request
   server :workspace/executeCommand
   (list :command command :arguments (vector argument))
   :timeout 3600
   :success-fn done
   :error-fn (lambda (failure) (message "KernelSkill: %s" (plist-get failure :message)))))

(defun kernelskill-program--buffer-name (profile)
  "The name of the buffer that shows PROFILE."
  (format "*KernelSkill %s*" (plist-get profile :name)))

(defun kernelskill-program--show (profile server argument)
  "Show PROFILE, which SERVER has answered ARGUMENT with, in a buffer of its own."
  (let ((buffer (get-buffer-create (kernelskill-program--buffer-name profile))))
    (kernelskill-program--fill buffer profile server argument)
    (display-buffer buffer))
  (message "%s" (plist-get profile :summary)))

(defun kernelskill-program--fill (buffer profile server argument)
  "List the kernels of PROFILE in BUFFER.
With ARGUMENT, SERVER will be asked for another one."
  (with-current-buffer buffer
    (unless (derived-mode-p 'kernelskill-program-mode)
      (kernelskill-program-mode))
    (setq kernelskill-program--server server
          kernelskill-program--argument argument
          tabulated-list-format (kernelskill-program--format (plist-get profile :table))
          tabulated-list-entries (seq-mapn #'list
                                           (plist-get profile :kernels)
                                           (seq-drop (plist-get profile :table) 1)))
    (tabulated-list-init-header)
    (tabulated-list-print t)
    (overlay-put kernelskill-program--notes 'after-string
                 (concat "\n" (mapconcat #'identity (kernelskill-program--remarks profile) "\n")
                         "\n"))))

(defun kernelskill-program--format (table)
  "The columns of TABLE, whose first row has their titles."
  (let ((last (1- (length (aref table 0)))))
    (apply #'vector
           (seq-map-indexed
            (lambda (title at)
              (let ((width (seq-max (seq-map (lambda (row) (string-width (aref row at))) table)))
                    (key (and (< at (length kernelskill-program--sort-keys))
                              (aref kernelskill-program--sort-keys at))))
                ;; A title has room for the arrow that says by which column the list is sorted.
                (list title (if (= at last) 0 (max width (+ 2 (string-width title))))
                      (if key (kernelskill-program--less-by key) t)
                      :right-align (and key t))))
            (aref table 0)))))

(defun kernelskill-program--less-by (key)
  "A predicate for entries of the list, by the number that kernels have at KEY."
  (lambda (a b)
    ;; What is not known comes first.
    (< (or (plist-get (car a) key) -1) (or (plist-get (car b) key) -1))))

(defun kernelskill-program--remarks (profile)
  "The lines that PROFILE has for all of its kernels."
  (append
   (unless (zerop (plist-get profile :status))
     (list (format "The program ended with status %d." (plist-get profile :status))))
   (unless (zerop (plist-get profile :dropped))
     (list (format "CUPTI dropped %d records: times are too low." (plist-get profile :dropped))))
   (seq-map (lambda (device) (plist-get device :text)) (plist-get profile :devices))
   (delq nil
         (seq-map (lambda (kernel)
                    (when-let ((failure (plist-get (plist-get kernel :profile) :error)))
                      (format "%s: %s" (plist-get kernel :name) (plist-get failure :what))))
                  (plist-get profile :kernels)))
   (when-let ((changes (plist-get profile :changes)))
     (cons "Since the last profile:"
           (seq-map (lambda (change) (plist-get change :text)) changes)))))

(provide 'kernelskill-program)

;;; kernelskill-program.el ends here
