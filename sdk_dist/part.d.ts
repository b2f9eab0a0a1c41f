// `waylink/links`, `waylink/domains` and `waylink/privacy` give `init` an option each, and export nothing.
export {};
