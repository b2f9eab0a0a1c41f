<?php
// The functions of WordPress that the plugin calls, as far as it needs them. Runs the plugin with the options of the first argument
// (JSON), and prints as JSON what it writes into the page's head, what its filters give, and its settings.

define( 'ABSPATH', '/' );
$hooks    = array();
$settings = array();
$options  = json_decode( $argv[1], true );
set_error_handler( function ( $level, $message ) { throw new ErrorException( $message ); } );

function add_filter( $name, $callback, $priority = 10 ) { $GLOBALS['hooks'][ $name ][] = $callback; }
function add_action( $name, $callback, $priority = 10 ) { add_filter( $name, $callback, $priority ); }
function apply_filters( $name, $value ) {
	foreach ( $GLOBALS['hooks'][ $name ] ?? array() as $callback ) {
		$value = $callback( $value );
	}
	return $value;
}
function do_action( $name ) { foreach ( $GLOBALS['hooks'][ $name ] ?? array() as $callback ) { $callback(); } }
function __return_true() { return true; }
function get_option( $name ) { return $GLOBALS['options'][ $name ] ?? false; }
function plugin_basename( $file ) { return 'waylink/' . basename( $file ); }
function esc_attr( $text ) { return htmlspecialchars( (string) $text, ENT_QUOTES ); }
function esc_html( $text ) { return htmlspecialchars( (string) $text, ENT_QUOTES ); }
function esc_url( $url ) { return htmlspecialchars( preg_match( '#^(https?:)?/#', $url ) ? $url : '', ENT_QUOTES ); }
function wp_json_encode( $value, $flags = 0 ) { return json_encode( $value, $flags ); }
function sanitize_text_field( $text ) { return trim( strip_tags( $text ) ); }
function register_setting( $group, $name, $arguments ) { $GLOBALS['settings'][ $name ] = array( 'group' => $group, 'clean' => $arguments['sanitize_callback']( ' a<b> ' ) ); }
function add_settings_field( $name, $title, $callback, $page, $section, $arguments ) {
	ob_start();
	$callback();
	$GLOBALS['settings'][ $name ] += array( 'title' => $title, 'page' => $page, 'field' => ob_get_clean() );
}
function wp_add_cookie_info( ...$info ) { $GLOBALS['cookie'] = $info; }
function attributes( $given ) {
	$html = '';
	foreach ( $given as $name => $value ) {
		$html .= true === $value ? " $name" : sprintf( ' %s="%s"', $name, esc_attr( $value ) );
	}
	return $html;
}
function wp_print_inline_script_tag( $code, $given = array() ) { printf( "<script%s>\n%s\n</script>\n", attributes( $given ), trim( $code ) ); }
function wp_print_script_tag( $given ) { printf( "<script%s></script>\n", attributes( $given ) ); }

require dirname( __DIR__, 2 ) . '/integrations/wordpress/waylink/waylink.php';

if ( isset( $options['init'] ) ) {
	add_filter( 'waylink_options', function ( $given ) { return $GLOBALS['options']['init'] + $given; } );
}
do_action( 'init' );
do_action( 'admin_init' );
ob_start();
do_action( 'wp_head' );
$head    = ob_get_clean();
$filters = array();
foreach ( array_keys( $hooks ) as $name ) {
	$filters[ $name ] = 0 === strpos( $name, 'wp_consent_api_' ) ? apply_filters( $name, false ) : null;
	if ( preg_match( '/^(rocket|sgo)_/', $name ) ) {
		$filters[ $name ] = apply_filters( $name, array( 'jquery' ) );
	}
}
echo json_encode( compact( 'head', 'filters', 'settings', 'cookie' ) );
